"""What literature pairs speak of: exposures, outcomes, conditions and places, with other words for each."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Way(StrEnum):
    """What an exposure does to an outcome."""

    UP = "up"
    DOWN = "down"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """One thing as papers call it and as people call it; ``opposite`` is what is lost with it."""

    formal: tuple[str, ...]
    plain: tuple[str, ...]
    opposite: tuple[str, ...] = ()


def _terms(text: str) -> tuple[Term, ...]:
    """One term a line: formal, formal = plain, plain [= opposite, opposite]."""
    found = []
    for line in text.strip().splitlines():
        parts = [tuple(word.strip() for word in part.split(",")) for part in line.split("=")]
        found.append(Term(formal=parts[0], plain=parts[1], opposite=(*parts[2:], ())[0]))
    return tuple(found)


EXPOSURES = _terms("""
cigarette smoking, current tobacco use = smoking, using tobacco
vitamin D supplementation, daily cholecalciferol = taking vitamin D, vitamin D
vitamin D deficiency, low serum 25-hydroxyvitamin D = low vitamin D, a lack of vitamin D
metformin therapy, treatment with metformin = metformin, taking metformin
statin therapy, high-intensity atorvastatin = taking a statin, a statin
low-dose acetylsalicylic acid, aspirin 75 mg daily = aspirin, low-dose aspirin
obesity, a body mass index above 30 kg/m2 = obesity, being obese
pre-existing diabetes mellitus, type 2 diabetes = diabetes, having diabetes
arterial hypertension, uncontrolled hypertension = high blood pressure, having high blood pressure
systemic corticosteroid treatment, dexamethasone = steroid treatment, taking steroids
mechanical ventilation, invasive ventilatory support = being on a ventilator, a ventilator
prone positioning = lying face down, being placed face down
hydroxychloroquine, hydroxychloroquine treatment = hydroxychloroquine, the malaria drug hydroxychloroquine
remdesivir, intravenous remdesivir = remdesivir, the antiviral remdesivir
convalescent plasma, transfusion of convalescent plasma = plasma from people who recovered
mRNA vaccination, two doses of BNT162b2 = vaccination, the vaccine
influenza vaccination, seasonal influenza immunisation = the flu shot, a flu vaccine
BCG vaccination = the tuberculosis vaccine, BCG vaccine
face mask use, universal masking = wearing a mask, mask wearing
hand hygiene training, regular hand washing = washing hands, hand washing
physical distancing, a stay-at-home order = social distancing, keeping a distance
school closure = closing schools, shutting schools
moderate-intensity aerobic exercise, supervised physical activity = exercise, regular exercise
a Mediterranean diet, adherence to a Mediterranean diet = eating a Mediterranean diet, a Mediterranean diet
high dietary sodium intake = eating a lot of salt, a salty diet
intermittent fasting, time-restricted feeding = fasting, intermittent fasting
moderate alcohol consumption = moderate drinking, drinking in moderation
coffee consumption, habitual coffee intake = coffee, drinking coffee
sleep deprivation, short sleep duration = sleeping too little, a lack of sleep
mindfulness-based stress reduction = mindfulness, meditation
cognitive behavioural therapy = talking therapy, cognitive therapy
selective serotonin reuptake inhibition, SSRI treatment = taking antidepressants, an antidepressant
ambient fine particulate matter, long-term PM2.5 exposure = air pollution, polluted air
ACE inhibitor therapy, angiotensin-converting enzyme inhibition = taking an ACE inhibitor, an ACE inhibitor
beta-blocker treatment, metoprolol = taking a beta blocker, a beta blocker
empagliflozin, SGLT2 inhibition = empagliflozin, an SGLT2 inhibitor
semaglutide, once-weekly semaglutide = semaglutide, the weekly injection semaglutide
anticoagulation with apixaban, apixaban = apixaban, the blood thinner apixaban
warfarin, vitamin K antagonist therapy = warfarin, the blood thinner warfarin
omega-3 fatty acid supplementation, daily fish oil = fish oil, taking omega-3
zinc supplementation, oral zinc = zinc, taking zinc
probiotic supplementation, Lactobacillus rhamnosus = taking probiotics, a probiotic
azithromycin, macrolide treatment = azithromycin, the antibiotic azithromycin
early antibiotic treatment, amoxicillin = taking antibiotics, an antibiotic
breastfeeding, exclusive breastfeeding = breastfeeding, being breastfed
caesarean delivery, delivery by caesarean section = a C-section, being born by C-section
hormone replacement therapy, postmenopausal oestrogen = hormone therapy, taking hormones
bariatric surgery, sleeve gastrectomy = weight-loss surgery, stomach surgery
cardiac rehabilitation = heart rehabilitation, a heart rehabilitation programme
telemedicine follow-up, remote monitoring = remote care, follow-up by phone
oxygen therapy, high-flow nasal oxygen = extra oxygen, oxygen treatment
tranexamic acid = tranexamic acid, the clotting drug tranexamic acid
gabapentin, treatment with gabapentin = gabapentin, taking gabapentin
opioid analgesia, prolonged opioid prescription = taking opioids, an opioid painkiller
proton pump inhibition, long-term omeprazole = taking an acid blocker, a heartburn drug
monoclonal antibody treatment, tocilizumab = antibody treatment, tocilizumab
male sex = being male, being a man
advanced age, age over 70 years = old age, being older
black tea consumption, green tea intake = tea, drinking tea
screen time above four hours a day = too much screen time, a lot of screen time
blood group A = type A blood, having type A blood
chronic kidney disease, impaired renal function = kidney disease, having kidney disease
""")


# Outcomes that nobody wants: less of them is better.
HARMS = _terms("""
all-cause mortality, in-hospital mortality, 28-day mortality = death, dying = survival, surviving
acute myocardial infarction, myocardial infarction = a heart attack, heart attacks
ischaemic stroke, cerebrovascular events = a stroke, strokes
hospital admission, hospitalisation = ending up in hospital, hospital stays
intensive care unit admission, ICU admission = needing intensive care, intensive care
severe COVID-19, critical illness from SARS-CoV-2 infection = severe COVID-19, serious coronavirus illness
SARS-CoV-2 infection, incident COVID-19 = COVID-19, catching the coronavirus
viral transmission, secondary household transmission = spreading the virus, passing on the virus
acute kidney injury, renal failure = kidney failure, kidney damage
venous thromboembolism, deep vein thrombosis = blood clots, a blood clot
major bleeding, gastrointestinal haemorrhage = serious bleeding, bleeding
hepatotoxicity, elevated liver enzymes = liver damage, liver problems
incident type 2 diabetes, new-onset diabetes = diabetes, developing diabetes
cognitive decline, incident dementia = dementia, memory loss
depressive symptoms, major depressive disorder = depression, feeling depressed
anxiety symptoms, generalised anxiety = anxiety, feeling anxious
preterm birth, delivery before 37 weeks = premature birth, being born too early
hip fracture, osteoporotic fractures = broken bones, a broken hip
upper respiratory tract infection, acute respiratory infection = colds, a cold
asthma exacerbations, acute asthma attacks = asthma attacks, an asthma attack
postoperative pain, chronic pain = pain, being in pain
surgical site infection, postoperative wound infection = wound infections, an infected wound
heart failure, hospitalisation for heart failure = heart failure, a failing heart
colorectal cancer, colorectal neoplasia = bowel cancer, colon cancer
lung cancer, pulmonary carcinoma = lung cancer, cancer of the lung
atopic eczema, atopic dermatitis in infants = eczema, an itchy rash
hypoglycaemia, severe hypoglycaemic episodes = low blood sugar, dangerously low blood sugar
nausea and vomiting = nausea, feeling sick
QT prolongation, ventricular arrhythmia = heart rhythm problems, an irregular heartbeat
hospital readmission, 30-day readmission = going back to hospital, being readmitted
weight gain, an increase in body weight = weight gain, putting on weight
insomnia, sleep disturbance = poor sleep, trouble sleeping
""")


# Outcomes that people want: more of them is better.
GOODS = _terms("""
overall survival, five-year survival = survival, living longer = death, dying
lung function, forced expiratory volume = lung function, breathing
health-related quality of life, EQ-5D quality of life = quality of life, how well people live
neutralising antibody titres, the antibody response = immunity, antibody levels
exercise capacity, six-minute walk distance = fitness, how far people can walk
cognitive performance, executive function = thinking skills, mental performance
bone mineral density, lumbar bone density = bone strength, strong bones
left ventricular ejection fraction = heart function, how well the heart pumps
insulin sensitivity = the body's response to insulin, insulin sensitivity
treatment adherence, medication adherence = taking medicines as prescribed, sticking to treatment
functional recovery, neurological recovery = recovery, getting better
viral clearance, SARS-CoV-2 RNA clearance = clearing the virus, getting rid of the virus
smoking cessation, sustained abstinence = quitting smoking, giving up smoking
sleep quality, sleep efficiency = sleep, good sleep
""")


CONDITIONS = _terms("""
coronavirus disease 2019, SARS-CoV-2 infection, COVID-19 = COVID-19, the coronavirus, COVID
myocardial infarction = a heart attack, heart attacks
seasonal influenza, influenza A = the flu, flu
type 2 diabetes mellitus = diabetes, type 2 diabetes
chronic obstructive pulmonary disease, COPD = chronic lung disease, COPD
Parkinson disease, idiopathic parkinsonism = Parkinson's, Parkinson's disease
Lyme borreliosis = Lyme disease, Lyme
iron deficiency anaemia = anaemia, low iron
rheumatoid arthritis = rheumatoid arthritis, inflamed joints
community-acquired pneumonia = pneumonia, a lung infection
hypothyroidism, thyroid insufficiency = an underactive thyroid, hypothyroidism
measles, measles virus infection = measles, the measles
""")
SYMPTOMS = _terms("""
cephalalgia, headache = headaches, a headache
pyrexia, fever = a fever, a high temperature
dyspnoea, shortness of breath = shortness of breath, trouble breathing
anosmia, loss of smell = a loss of smell, a lost sense of smell
fatigue, asthenia = tiredness, a feeling of tiredness
diarrhoea, gastrointestinal symptoms = diarrhoea, stomach trouble
myalgia, muscle pain = muscle aches, aching muscles
cutaneous eruption, skin lesions = a rash, skin problems
arthralgia, joint pain = joint pain, aching joints
delirium, acute confusion = confusion, a confused state
palpitations, tachycardia = a racing heart, a fast heartbeat
conjunctivitis, conjunctival injection = red eyes, pink eye
""")
GROUPS = _terms("""
paediatric patients, children and adolescents = children, kids
neonates, newborn infants = newborns, babies
elderly patients, adults aged 65 years or older = older people, the elderly
pregnant women, women in the third trimester = pregnant women, expectant mothers
health care workers, hospital staff = health workers, doctors and nurses
immunocompromised patients, transplant recipients = people with weak immune systems, transplant patients
nursing home residents = people in nursing homes, nursing home residents
domestic cats, companion animals = cats, pets
""")
PLACES = _terms("""
stool samples, faecal specimens = stool, faeces
breast milk samples = breast milk, mothers' milk
surface swabs, environmental samples = surfaces, objects that people touch
air samples, aerosol samples = the air, indoor air
saliva specimens = saliva, spit
semen samples = semen, sperm
cerebrospinal fluid = the fluid around the brain, spinal fluid
urine specimens = urine, the urine
wastewater, untreated sewage = sewage, waste water
conjunctival swabs = tears, the eyes
""")
CONTROLS = ("placebo", "usual care", "no treatment", "standard therapy", "a sham procedure")
DESIGNS = (
    "a randomised controlled trial", "a retrospective cohort study", "a systematic review",
    "a meta-analysis", "a prospective cohort study", "a case-control study", "a multicentre study",
    "a nationwide registry study",
)  # fmt: skip

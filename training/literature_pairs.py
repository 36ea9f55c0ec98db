"""Original synthetic pairs in the shape of medical literature: what an abstract found, and how
somebody would retell it.

A premise states a finding as papers do (direction, ratio, interval, group rates); a claim says it
in everyday words ("raises the risk of a heart attack"). The same direction entails, another one
contradicts, and a claim about something else, or about what the text only asks, is neutral. No
text here was copied from a data set; all is put together from the lists below.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from training.synthetic import CONTRADICTION, ENTAILMENT, NEUTRAL, SyntheticPair


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

# Wordings of an effect on a harm; {e} the exposure, {o} the outcome as people call it.
SAID_OF_HARM = {
    Way.UP: (
        "{e} increases the risk of {o}", "{e} raises the risk of {o}",
        "{e} can increase a person's risk of {o}", "{e} makes {o} more likely",
        "{e} is a risk factor for {o}", "{e} is linked to a higher risk of {o}",
        "{e} tied to higher odds of {o}", "there is evidence that {e} promotes {o}",
        "{e} may put people at greater risk of {o}", "with {e}, {o} is more common",
    ),
    Way.DOWN: (
        "{e} reduces the risk of {o}", "{e} lowers the risk of {o}", "{e} protects against {o}",
        "{e} helps prevent {o}", "{e} makes {o} less likely", "{e} may cut the risk of {o}",
        "{e} is linked to a lower risk of {o}", "{e} tied to lower odds of {o}",
        "there is evidence that {e} guards against {o}", "with {e}, {o} is less common",
    ),
    Way.NONE: (
        "{e} has no effect on the risk of {o}", "{e} does not change the risk of {o}",
        "{e} makes no difference to the risk of {o}", "{e} is not associated with {o}",
        "there is no link between {e} and {o}", "{o} is as common with {e} as without",
    ),
}  # fmt: skip
SAID_OF_GOOD = {
    Way.UP: (
        "{e} improves {o}", "{e} may boost {o}", "{e} is good for {o}", "{e} helps with {o}",
        "{e} is linked to better {o}", "there is evidence that {e} benefits {o}",
    ),
    Way.DOWN: (
        "{e} worsens {o}", "{e} impairs {o}", "{e} is bad for {o}", "{e} is linked to worse {o}",
        "there is evidence that {e} harms {o}", "{e} reduces {o}",
    ),
    Way.NONE: (
        "{e} has no effect on {o}", "{e} makes no difference to {o}", "{e} does not affect {o}",
        "there is no link between {e} and {o}", "{o} is the same with and without {e}",
    ),
}  # fmt: skip


def literature_pairs(count: int, seed: int) -> list[SyntheticPair]:
    """Return `count` pairs, a third of each label; the same seed gives the same pairs."""
    rng = random.Random(f"literature-{seed}")
    labels = [(ENTAILMENT, NEUTRAL, CONTRADICTION)[i % 3] for i in range(count)]
    makers, weights = [maker for maker, _ in KINDS], [weight for _, weight in KINDS]
    pairs = []
    for label in labels:
        maker = rng.choices(makers, weights)[0]
        premise, claims = maker(rng)
        fitting = [text for text, said in claims if said == label]
        if fitting:
            hypothesis = _claim(rng.choice(fitting), rng)
            pairs.append(
                SyntheticPair(premise=_capital(premise), hypothesis=hypothesis, label=label)
            )
    return pairs


Claims = list[tuple[str, str]]


def _effect(rng: random.Random) -> tuple[str, Claims]:
    """What an exposure does to an outcome, or to two, told with the numbers of a paper."""
    exposure, way = rng.choice(EXPOSURES), rng.choice(tuple(Way))
    harmful = rng.random() < 0.7
    outcome, second, other = rng.sample(HARMS if harmful else GOODS, 3)
    stranger = rng.choice([e for e in EXPOSURES if e is not exposure])
    formal, what = rng.choice(exposure.formal), rng.choice(outcome.formal)
    result = _result(formal, what, way, harmful, rng)
    claims = _retold(exposure, outcome, way, harmful, rng)
    text = _in_abstract(result, formal, what, rng.randint(40, 40_000), rng)
    if rng.random() < 0.35:  # a second finding beside it, often another one
        also = rng.choice(tuple(Way))
        text = f"{text} {_capital(_result(formal, rng.choice(second.formal), also, harmful, rng))}"
        claims += _retold(exposure, second, also, harmful, rng)
    for unsaid in Way:
        claims += [
            (_said(exposure, other, unsaid, harmful, rng), NEUTRAL),
            (_said(stranger, outcome, unsaid, harmful, rng), NEUTRAL),
        ]
    return text, claims


def _unanswered(rng: random.Random) -> tuple[str, Claims]:
    """What a text asks or planned, and does not answer."""
    exposure, outcome = rng.choice(EXPOSURES), rng.choice(HARMS)
    formal, what = rng.choice(exposure.formal), rng.choice(outcome.formal)
    text = rng.choice((
        f"The effect of {formal} on {what} remains unclear.",
        f"We aimed to determine whether {formal} reduces {what}.",
        f"It is not known whether {formal} affects {what}.",
        f"We hypothesised that {formal} would be associated with {what}.",
        f"Further studies are needed to establish whether {formal} influences {what}.",
        f"Patients were randomly assigned to {formal} or {rng.choice(CONTROLS)}; the primary "
        f"outcome was {what}.",
        f"This review summarises what is known about {formal} and {what}.",
    ))  # fmt: skip
    plain, of = rng.choice(exposure.plain), rng.choice(outcome.plain)
    claims = [(_said(exposure, outcome, way, True, rng), NEUTRAL) for way in Way]
    claims += [
        (f"researchers looked at {plain} and {of}", ENTAILMENT),
        (f"a possible link between {plain} and {of} has been considered", ENTAILMENT),
        (f"nobody has ever considered whether {plain} affects {of}", CONTRADICTION),
    ]
    if text.startswith(("The effect", "It is not", "Further")):
        claims += [
            (f"it is still unclear whether {plain} affects {of}", ENTAILMENT),
            (f"more research is needed on {plain} and {of}", ENTAILMENT),
            (f"it has been settled that {plain} affects {of}", CONTRADICTION),
            (f"it is well established that {plain} lowers the risk of {of}", CONTRADICTION),
        ]
    return text, claims


def _symptom(rng: random.Random) -> tuple[str, Claims]:
    """How many patients had a symptom."""
    condition, other = rng.sample(CONDITIONS, 2)
    symptom, unsaid = rng.sample(SYMPTOMS, 2)
    size = rng.randint(24, 3000)
    had = rng.randint(1, size - 1) if rng.random() < 0.9 else 0
    share = 100 * had / size
    ill, felt = rng.choice(condition.formal), rng.choice(symptom.formal)
    shown = f"{share:.{rng.choice((0, 1))}f}%"
    text = rng.choice((
        f"{felt} was reported by {had} of {size} patients with {ill} ({shown}).",
        f"Among {size} patients with {ill}, {had} ({shown}) presented with {felt}.",
        f"In our series of {size} cases of {ill}, {felt} was present in {shown}.",
    ))  # fmt: skip
    of, sign = rng.choice(condition.plain), rng.choice(symptom.plain)
    some = ENTAILMENT if had else CONTRADICTION
    never = CONTRADICTION if had else ENTAILMENT
    claims = [
        (f"some people with {of} have {sign}", some),
        (f"{sign} can be a symptom of {of}", some if had else NEUTRAL),
        (f"{sign} was seen in patients with {of}", some),
        (f"none of the patients with {of} had {sign}", never),
        (f"{sign} was not seen in any patient with {of}", never),
        (f"{rng.choice(unsaid.plain)} is common in people with {of}", NEUTRAL),
        (f"patients with {rng.choice(other.plain)} often have {sign}", NEUTRAL),
        (f"{sign} goes away within a week in people with {of}", NEUTRAL),
    ]
    claims += [(f"{said} of the patients with {of} had {sign}", label)
               for said, label in _shares(share)]  # fmt: skip
    return text, claims


def _susceptible(rng: random.Random) -> tuple[str, Claims]:
    """Who can get an illness, and how they fare."""
    condition, group = rng.choice(CONDITIONS), rng.choice(GROUPS)
    ill, who = rng.choice(condition.formal), rng.choice(group.formal)
    of, people = rng.choice(condition.plain), rng.choice(group.plain)
    milder = rng.random() < 0.5
    course = "milder" if milder else "more severe"
    text = rng.choice((
        f"We report {rng.randint(2, 90)} confirmed cases of {ill} in {who}; the course was {course} "
        "than in other patients.",
        f"Among {who}, {rng.randint(3, 400)} were diagnosed with {ill}, with {course} disease than "
        "in the rest of the cohort.",
        f"{who} are susceptible to {ill}, and their illness tends to be {course}.",
    ))  # fmt: skip
    stranger = rng.choice([g for g in GROUPS if g is not group])
    gentle, harsh = (ENTAILMENT, CONTRADICTION) if milder else (CONTRADICTION, ENTAILMENT)
    return text, [
        (f"{people} can get {of}", ENTAILMENT),
        (f"{people} can be affected by {of}", ENTAILMENT),
        (f"{people} cannot get {of}", CONTRADICTION),
        (f"{people} are immune to {of}", CONTRADICTION),
        (f"{of} never occurs in {people}", CONTRADICTION),
        (f"{of} is usually less serious in {people}", gentle),
        (f"{people} tend to be hit harder by {of}", harsh),
        (f"{rng.choice(stranger.plain)} can get {of}", NEUTRAL),
        (f"most {people} should be vaccinated against {of}", NEUTRAL),
        (f"{people} spread {of} more than others do", NEUTRAL),
    ]


def _detected(rng: random.Random) -> tuple[str, Claims]:
    """Where a virus was found, and where it was not."""
    place, elsewhere, unsaid = rng.sample(PLACES, 3)
    size = rng.randint(6, 300)
    found = rng.randint(1, size) if rng.random() < 0.6 else 0
    what, virus = rng.choice((
        ("SARS-CoV-2 RNA", "the coronavirus"),
        ("influenza A virus", "the flu virus"),
        ("norovirus", "norovirus"),
        ("measles virus RNA", "the measles virus"),
    ))  # fmt: skip
    where, other = rng.choice(place.formal), rng.choice(elsewhere.formal)
    text = rng.choice((
        f"{what} was detected in {found} of {size} {where}." if found else
        f"{what} was not detected in any of {size} {where}.",
        f"Of {size} {where}, {found} were positive for {what}." if found else
        f"All {size} {where} were negative for {what}.",
    ))  # fmt: skip
    if rng.random() < 0.5:  # the opposite elsewhere
        text += f" By contrast, {what} was {'absent from' if found else 'present in'} {other}."
    else:
        other = ""
    there, not_there = (ENTAILMENT, CONTRADICTION) if found else (CONTRADICTION, ENTAILMENT)
    named = rng.choice(place.plain)
    claims = [
        (f"{virus} was found in {named}", there),
        (f"traces of {virus} have been detected in {named}", there),
        (f"{virus} was not found in {named}", not_there),
        (f"no sign of {virus} was seen in {named}", not_there),
        (f"{virus} was found in {rng.choice(unsaid.plain)}", NEUTRAL),
        (f"{virus} survives in {named} for several days", NEUTRAL),
        (f"people can catch {virus} from {named}", NEUTRAL),
    ]
    if other:
        second = rng.choice(elsewhere.plain)
        claims += [
            (f"{virus} was found in {second}", not_there),
            (f"{virus} was not found in {second}", there),
        ]
    return text, claims


def _share(rng: random.Random) -> tuple[str, Claims]:
    """A proportion, retold roughly."""
    condition, group = rng.choice(CONDITIONS), rng.choice(GROUPS[:-1])
    outcome, unsaid = rng.sample(HARMS[:5], 2)
    size = rng.randint(60, 9000)
    had = rng.randint(1, size - 1)
    share = 100 * had / size
    what, who = rng.choice(outcome.formal), rng.choice(group.formal)
    text = rng.choice((
        f"Of {size:,} {who} with {rng.choice(condition.formal)}, {had:,} ({share:.1f}%) had "
        f"{what} as their outcome.",
        f"The rate of {what} in {who} with {rng.choice(condition.formal)} was {share:.1f}% "
        f"({had:,}/{size:,}).",
    ))  # fmt: skip
    people, of = rng.choice(group.plain), rng.choice(outcome.plain)
    claims = [
        (f"for {said} of {people} with the disease, the outcome was {of}", label)
        for said, label in _shares(share)
    ]
    claims += [
        (f"for {rng.choice(SHARES)[0]} of {people} with the disease, the outcome was "
         f"{rng.choice(unsaid.plain)}", NEUTRAL),
        (f"{of} is becoming more frequent among {people}", NEUTRAL),
    ]  # fmt: skip
    return text, claims


def _duration(rng: random.Random) -> tuple[str, Claims]:
    """A median time, retold roughly."""
    days = round(rng.uniform(2, 40), rng.choice((0, 1)))
    start, end, plain = rng.choice((
        ("symptom onset", "hospital admission", "get to hospital after the first symptoms"),
        ("exposure", "symptom onset", "show symptoms after being exposed"),
        ("admission", "discharge", "leave hospital after being admitted"),
        ("the first positive test", "a negative test", "test negative again"),
        ("surgery", "return to work", "return to work after surgery"),
    ))  # fmt: skip
    text = rng.choice((
        f"The median time from {start} to {end} was {days:g} days (IQR {max(1, days * 0.6):.0f}–"
        f"{days * 1.5:.0f}).",
        f"The mean interval between {start} and {end} was {days:g} ± {days * 0.3:.1f} days.",
    ))  # fmt: skip
    claims = [
        (f"it takes about {round(days)} days on average to {plain}", ENTAILMENT),
        (f"it takes about {round(days * rng.choice((2, 3, 4)) + 2)} days on average to {plain}",
         CONTRADICTION),
        (f"it takes longer for women to {plain}", NEUTRAL),
        (f"treatment shortens the time that people need to {plain}", NEUTRAL),
    ]  # fmt: skip
    for limit, name in ((7, "a week"), (14, "two weeks"), (30, "a month")):
        if abs(days - limit) > 0.2 * limit:
            more = days > limit
            claims += [
                (f"on average people need more than {name} to {plain}",
                 ENTAILMENT if more else CONTRADICTION),
                (f"on average people need less than {name} to {plain}",
                 CONTRADICTION if more else ENTAILMENT),
            ]  # fmt: skip
    return text, claims


def _comparison(rng: random.Random) -> tuple[str, Claims]:
    """Two treatments against each other."""
    one, other, unsaid = rng.sample(EXPOSURES[3:50], 3)
    outcome = rng.choice(HARMS)
    first, second = rng.choice(one.formal), rng.choice(other.formal)
    what = rng.choice(outcome.formal)
    way = rng.choice(("better", "worse", "same"))
    text = {
        "better": (
            f"{first} was superior to {second} in preventing {what} (p = 0.0{rng.randint(1, 4)}).",
            f"Compared with {second}, {first} led to fewer cases of {what}.",
        ),
        "worse": (
            f"{first} was inferior to {second} in preventing {what}.",
            f"{what} was more frequent with {first} than with {second} (p < 0.01).",
        ),
        "same": (
            f"{first} and {second} did not differ in the prevention of {what} "
            f"(p = 0.{rng.randint(11, 92)}).",
            f"Rates of {what} were similar with {first} and {second}.",
        ),
    }[way]
    a, b, of = rng.choice(one.plain), rng.choice(other.plain), rng.choice(outcome.plain)
    said = {
        "better": (f"{a} works better than {b} against {of}",
                   f"{b} is less effective than {a} at preventing {of}"),
        "worse": (f"{b} works better than {a} against {of}",
                  f"{a} is less effective than {b} at preventing {of}"),
        "same": (f"{a} and {b} work equally well against {of}",
                 f"{a} is no better than {b} at preventing {of}"),
    }  # fmt: skip
    claims = [
        (each, ENTAILMENT if which == way else CONTRADICTION)
        for which, texts in said.items()
        for each in (texts if (which, way) != ("same", "worse") else texts[:1])
    ]
    stranger = rng.choice(unsaid.plain)
    claims += [
        (f"{a} works better than {stranger} against {of}", NEUTRAL),
        (f"{stranger} and {b} work equally well against {of}", NEUTRAL),
        (f"{a} is cheaper than {b}", NEUTRAL),
    ]
    return rng.choice(text), claims


KINDS: tuple[tuple[Callable[[random.Random], tuple[str, Claims]], float], ...] = (
    (_effect, 50),
    (_unanswered, 8),
    (_symptom, 9),
    (_susceptible, 6),
    (_detected, 6),
    (_share, 7),
    (_duration, 6),
    (_comparison, 8),
)

# (wording, from this many percent, to this many): where a share is near a limit nothing is said.
SHARES = (
    ("most", 55, 100),
    ("more than half", 53, 100),
    ("fewer than half", 0, 47),
    ("a minority", 0, 45),
    ("about a quarter", 23, 27),
    ("about a third", 31, 36),
    ("about half", 47, 53),
    ("roughly one in ten", 9, 11),
    ("fewer than one in ten", 0, 9),
    ("more than three quarters", 77, 100),
    ("nearly all", 92, 100),
)


def _shares(percent: float) -> Claims:
    found = []
    for said, low, high in SHARES:
        if low <= percent <= high:
            found.append((said, ENTAILMENT))
        elif percent < low - 6 or percent > high + 6:
            found.append((said, CONTRADICTION))
    return found


def _retold(exposure: Term, outcome: Term, way: Way, harmful: bool, rng: random.Random) -> Claims:
    """Every direction said of this exposure and outcome, with what it is then."""
    claims = []
    for said in Way:
        label = ENTAILMENT if said is way else CONTRADICTION
        claims += [(_said(exposure, outcome, said, harmful, rng), label) for _ in range(2)]
    e, o = rng.choice(exposure.plain), rng.choice(outcome.plain)
    less = CONTRADICTION if way is Way.DOWN else ENTAILMENT
    more = CONTRADICTION if way is Way.UP else ENTAILMENT
    if harmful:
        claims += [
            (f"{e} does not lower the risk of {o}", less),
            (f"{e} does not increase the risk of {o}", more),
            (f"the risk of {o} is unrelated to {e}", _same(way, Way.NONE)),
        ]
    else:
        claims += [(f"{e} does not improve {o}", more), (f"{e} does not worsen {o}", less)]
    for opposite in outcome.opposite:
        up, down = _same(way, Way.DOWN), _same(way, Way.UP)
        if harmful:
            claims += [
                (f"{e} improves the odds of {opposite}", up),
                (f"{e} lowers the odds of {opposite}", down),
            ]
        else:
            claims += [
                (f"{e} raises the risk of {opposite}", up),
                (f"{e} lowers the risk of {opposite}", down),
            ]
    return claims


def _same(way: Way, said: Way) -> str:
    return ENTAILMENT if way is said else CONTRADICTION


def _said(exposure: Term, outcome: Term, way: Way, harmful: bool, rng: random.Random) -> str:
    wordings = (SAID_OF_HARM if harmful else SAID_OF_GOOD)[way]
    names = (exposure.plain, outcome.plain) if rng.random() < 0.75 else (
        exposure.formal, outcome.formal)  # fmt: skip
    return rng.choice(wordings).format(e=rng.choice(names[0]), o=rng.choice(names[1]))


def _result(e: str, o: str, way: Way, harmful: bool, rng: random.Random) -> str:
    """One sentence of results."""
    control = rng.choice(CONTROLS)
    group = rng.choice(("group", "arm"))
    trials = rng.randint(3, 60)
    ratio = _ratio(way, rng)
    sure = rng.choice(("(P < 0.001)", "(p = 0.003)", "(p = 0.02)", f"({ratio})"))
    unsure = rng.choice((f"(p = 0.{rng.randint(12, 94)})", f"({ratio})"))
    base = rng.uniform(4, 40)
    factor = {Way.UP: rng.uniform(1.4, 2.5), Way.DOWN: rng.uniform(0.3, 0.7), Way.NONE: 1.02}[way]
    rates = f"{base * factor:.1f}% in the {e} {group} and {base:.1f}% in the control {group}"
    shown: tuple[str, ...]
    if way is Way.NONE:
        shown = (
            f"{e} had no significant effect on {o} compared with {control} {unsure}.",
            f"No significant association was found between {e} and {o} ({ratio}).",
            f"There was no difference in {o} between the {e} and {control} {group}s {unsure}.",
            f"{e} was not associated with {o} ({ratio}).",
            f"A meta-analysis of {trials} trials found no evidence that {e} affects {o}.",
        )
        if harmful:
            shown += (
                f"The incidence of {o} was similar: {rates} {unsure}.",
                f"{e} did not significantly reduce {o} ({ratio}).",
            )
        return rng.choice(shown)
    up = way is Way.UP
    verb = rng.choice(("increased", "raised") if up else ("reduced", "lowered", "decreased"))
    if harmful:
        shown = (
            f"{e} significantly {verb} {o} compared with {control} {sure}.",
            f"{e} was associated with {'an increased' if up else 'a decreased'} risk of {o} ({ratio}).",
            f"{e} was independently associated with {'higher' if up else 'lower'} rates of {o} {sure}.",
            f"{e} was {'a risk factor for' if up else 'protective against'} {o} ({ratio}).",
            f"The incidence of {o} was {rates} {sure}.",
            f"{o} occurred {'more' if up else 'less'} often with {e} than with {control} {sure}.",
            f"A meta-analysis of {trials} trials found that {e} {verb} {o} by {rng.randint(9, 62)}%.",
            f"Multivariable analysis showed {'greater' if up else 'smaller'} odds of {o} with {e} "
            f"({ratio}).",
        )  # fmt: skip
    else:
        better = "improved" if up else "worsened"
        shown = (
            f"{e} significantly {better} {o} compared with {control} {sure}.",
            f"{e} was associated with {'better' if up else 'poorer'} {o} {sure}.",
            f"A meta-analysis of {trials} trials found that {e} {better} {o}.",
            f"{o} {'rose' if up else 'declined'} with {e} but not with {control} {sure}.",
            f"Participants with {e} showed {'greater' if up else 'lower'} {o} than controls {sure}.",
        )
    return rng.choice(shown)


def _ratio(way: Way, rng: random.Random) -> str:
    value = {
        Way.UP: rng.uniform(1.3, 3.2),
        Way.DOWN: rng.uniform(0.35, 0.78),
        Way.NONE: rng.uniform(0.93, 1.07),
    }[way]
    wide = {Way.UP: 0.85, Way.DOWN: 0.85, Way.NONE: 0.8}[way]
    name = rng.choice(("HR", "OR", "adjusted OR", "RR", "adjusted hazard ratio", "odds ratio"))
    to = rng.choice(("–", " to ", "-"))
    return f"{name} {value:.2f}, 95% CI {value * wide:.2f}{to}{value / wide:.2f}"


def _in_abstract(result: str, e: str, o: str, size: int, rng: random.Random) -> str:
    """The result as it stands in a title's abstract, with or without what comes before it."""
    text = _capital(result)
    design = rng.choice(DESIGNS)
    if rng.random() < 0.35:
        text = rng.choice((
            f"We studied {size:,} participants. {text}",
            f"RESULTS: {text}",
            f"CONCLUSIONS: {text}",
            f"The relation of {e} to {o} has been debated. {text}",
            f"In {design} of {size:,} people, {text[0].lower() + text[1:]}",
        ))  # fmt: skip
    if rng.random() < 0.3:
        text = f"{_capital(e)} and {o}: {design}. {text}"
    return text


def _claim(text: str, rng: random.Random) -> str:
    """A sentence, or now and then a headline without its full stop."""
    return _capital(text) if rng.random() < 0.15 else _capital(text) + "."


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]

"""The words around the name of a source by which a sentence credits it (III.2)."""

from __future__ import annotations

import re

LEAD = re.compile(
    r"\s*(?:according to|as per|per|based on|from|in|on|within|using|via|looking at|going by|"
    r"judging (?:by|from)|"
    r"as (?:noted|documented|recorded|reported|described|stated|listed|shown|seen) (?:in|by|on)|"
    r"(?:data|evidence|results|findings|information|records?) (?:from|in|out of)|under (?:the |current )|"
    r"(?:going|looking|reading|searching) (?:back )?(?:through|over|across|into)|we know from|"
    r"(?:drawn|pulled|taken|cited|quoted|sourced|copied|adapted|extracted|read) "
    r"(?:directly |straight )?(?:from|off|out of)|"
    r"(?:this|that|it|these|(?:this|that|the) [a-z]+) (?:all )?(?:comes?|came|is|was|were|are)"
    r"(?: (?!limited|affected|followed|hampered|weakened|complicated|confounded)[a-z]+){0,2} "
    r"(?:from|in|by|on)|"
    r"(?:i|we) (?:\w+ )?(?:pulled|took|got|read|found|saw|see|drew|have|know)"
    r"(?: (?:this|that|it|these))? (?:from|in|on)|"
    r"what (?:we|i|you) (?:know|see|have|learn|read|can see|can tell) (?:from|in|of)|"
    r"(?:a )?(?:quick )?(?:review|search|check|analysis|look|reading) (?:of|in|at|through)|"
    r"(?:i|we) (?:\w+ )?(?:pulled up|brought up|went through|scrolled through|skimmed)|"
    r"(?:i|we) (?:\w+ )?(?:found|came across)(?= (?:an?|one|two|three|several|some) .{0,60}\b(?:that|which|"
    r"showing|reporting|saying|suggesting|finding)\b)|"
    r"(?:i|we)(?:\s?['’]?ve|\s?['’]?m)? (?:\w+ )?(?:reviewed|checked|searched|consulted|"
    r"looked (?:at|in|through|up)|opened|retrieved|reviewing|looking at)|on|"
    r"reviewing|searching|checking|reading|consulting|following|citing|quoting|to quote|to cite|"
    r"drawing on|leaning on|relying on|keeping to|browsing|leafing (?:back )?through|over on)\b",
    re.IGNORECASE,
)
OUTRIGHT = re.compile(r"(?:as|per|according to)\b", re.IGNORECASE)
COORDINATED = 12  # characters between "the chart and the labs"
LONGEST = 2_000  # characters of a sentence that are searched; a longer one is a dump
# "In the nursing notes we see that": a lead that runs on without a comma.
WE_SEE = re.compile(
    r"[^,:.;]{0,60}?\s(?:and\s)?(?:we|i|you|one|there|it|and)\s(?:can\s)?(?:also )?(?:see|sees|"
    r"read|reads|find|finds|learn|learns|know|saw|found|is|was|says|said|states|reads)(?:\sthat)?\s",
    re.IGNORECASE,
)
TO_THE_COMMA = re.compile(r"(?:[^,:.;]|(?<=\d)[,.](?=\d)){0,60}[,:]\s+")
ENDS_LEAD = re.compile(r",|\b(?:that|rather than|brought up|instead of)\b", re.IGNORECASE)
LEAD_WORDS = 7  # "In" opens much that is no credit; a credit follows it closely
IN_LEAD = re.compile(r"\s*(?:in|on|within|from|using|via)\b", re.IGNORECASE)
# "Reading the leaflet first is a good habit" credits nothing; "Reading the leaflet, we see" does.
DOING_LEAD = re.compile(r"\s*(?:reviewing|searching|checking|reading|consulting)\b", re.IGNORECASE)
# "If one opens the record, …", "Scroll through her encounters and methotrexate turns up"
OPENS = re.compile(
    r"\s*(?:if (?:one|you|we) |anyone |whoever |once (?:you|we|one) )?(?:opens?(?: up)?|pulls? up|"
    r"scroll(?:s|ing)? through|leaf(?:s|ing)? through|flip(?:s|ping)? through|"
    r"look(?:s|ing)? (?:at|in|up|through|over)|consults?|unfolds?|browses? through|"
    r"read(?:s|ing)? through|pages? through)\b",
    re.IGNORECASE,
)
THEN_SEES = re.compile(
    r"[^.;:]{0,60}?(?:,|\sand|\swould|\swill)\s(?:[\w'’.-]+\s){0,7}?(?:finds?|sees?|meets?|discovers?|"
    r"reads?|learns?|turns?(?:\sout)?(?:\sup)?|appears?|emerges?|stands?|is there|comes? up|figures?|"
    r"is staring)\b",
    re.IGNORECASE,
)
# "Three papers", "a chest CT": some of a kind, not a source that the sentence could be from.
UNNAMED_BEFORE = re.compile(
    r"\b(?:an?|some|any|several|many|multiple|various|few|other|more|most|no|such|two|three|four|five|"
    r"\d+)\s(?:[\w-]+\s){0,3}\Z",
    re.IGNORECASE,
)
# "His recent publications": what somebody made, not where the sentence is from.
SOMEBODYS_WORKS = re.compile(
    r"\b(?:his|her|their|its|our|your|my)\s(?:[\w-]+\s){0,2}"
    r"(?:trials|studies|papers|articles|publications)\Z",
    re.IGNORECASE,
)
# A common noun means a source behind "the" or "her", at the head of a clause, or behind "per" or "in".
NAMED_BEFORE = re.compile(
    r"(?:\b(?:the|his|her|their|this|that|these|those|its|our|your|my|both|each|either|neither|"
    r"\w+['’]s|\w+s['’])\s(?:[\w-]+\s){0,3}|"
    r"(?:\A|[.,;:()\[\]\"“”*_\u2013\u2014-])\s*(?:and\s|but\s|so\s|while\s|though\s|as\s|yet\s)?|"
    r"\b(?:per|in|on|from|by|via|with|under|through|of|at|than|and|or|"
    r"that|as|says|said)\s)\Z",
    re.IGNORECASE,
)
THE = re.compile(r"(?:the|his|her|their|this|that|its|our|your)\s", re.IGNORECASE)
WHOSE_BEFORE = re.compile(
    r"\b(?:the|his|her|their|this|that|an?|its|our|your)\s(?:[\w-]+\s){0,2}\Z", re.IGNORECASE
)
# "**Chart:** penicillin allergy."
LABEL = re.compile(r"[\s>*_#\u2022-]*(?P<label>[^:.!?;\n]{2,50})(?:\*\*|__)?:(?:\*\*|__)?\s+(?=\S)")
FIELD_NAME = re.compile(  # "Authors: Liu et al." is a field of a list, and credits nothing
    r"\b(?:authors?|journals?|publications?|researchers?|investigators?|scientists?|radiologists?)\b",
    re.IGNORECASE,
)
CLAUSE = re.compile(
    r"[,;:\u2013\u2014](?:\s(?:and|but|so|while|whereas|however|yet|or|since|because|although))?\s"
)
VERB = (
    r"(?:shows?|showed|lists?|listed|documents?|documented|indicates?|indicated|notes?|noted|"
    r"records?|recorded|reports?|reported|states?|stated|says|said|finds?|found|warns?|warned|"
    r"confirms?|confirmed|suggests?|suggested|describes?|described|demonstrates?|demonstrated|"
    r"reveals?|revealed|gives|gave|includes?|included|contains?|contained|mentions?|mentioned|"
    r"recommends?|recommended|advises?|advised|concludes?|concluded|identifies|identified|has|"
    r"returned|supports?|provides?|tells?(?:\sus)?|told us|mention|say|state|suggest|describe|confirm|"
    r"reveal|indicate|show|list|find|include|contain|warn|recommend|advise|demonstrate|observes?|"
    r"observed|names?|carries|carried|puts it|has it|holds?|held|(?:position|view|advice)\sis(?=\sthat\b)|"
    r"puts?|shown|seen|details?|detailed|ranks?|ranked|rates?|rated|argues?|argued|estimates?|"
    r"estimated|links?|linked|"
    r"restricts?|restricted|cites?|cited|claims?|claimed|endorses?|endorsed|urges?|urged|"
    r"explains?|explained|"
    r"specifies|specified|specify|outlines?|outlined|reads?|flags?|flagged|marks?|marked|"
    r"reflects?|reflected|"
    r"establishes|established|establish|proves?|proved|proven|highlights?|highlighted|"
    r"illustrates?|implies|imply|"
    r"cautions?|cautioned|lays out|laid out|sets out|spells out|points? (?:to|out)|pointed (?:to|out)|"
    r"(?:makes?|made)(?:\sit)? (?:clear|plain)|give|writes?|wrote|written|saw|sees|charted|"
    r"picked up|picks up|turned up|"
    r"turns up|detected|detects?|measured|measures|logs|logged|classifies|classified|calls for|"
    r"quotes?|quoted|attributes?|attributed|associates?|associated|tracks|tracked|summari[sz]es?|"
    r"summari[sz]ed|came back|comes back|come back|came out|speaks? of|spoke of|casts? doubt|"
    r"(?:comes|came) down|grew|yielded|caps|capped|agrees?|agreed|hints? at|hinted at|has tied|tied|"
    r"ties|produced|brought up|brings up|"
    r"favou?rs?|favou?red|places|placed|supports|said|it said|"
    r"backs(?: this)?(?: up)?|backed|back|asserts?|asserted|maintains?|declares?|declared|"
    r"discourages?|discouraged|pegs?|pegged|stages|staged|grades|graded|have it|hold|put|"
    r"agree|argue|estimate|report|conclude|note|link|warns?|call for|favou?r|credits?|credited|"
    r"attests? to|attested to|bears? witness to|contradicts?|contradicted|tells? of|gives away|"
    r"reads? that|speak of|points? at|traced?|traces)"
)
BEHIND = re.compile(
    r"(?!\s(?:committee|bias|department|board|bureau|fees?)\b(?!\s(?:recommends|advises|states|says)))(?:['’]s)?(?:,\s[^,;:.]{1,40},|"
    r"\s[\u2013\u2014-]\s[^\u2013\u2014]{1,40}[\u2013\u2014-](?=\s))?"
    r"(?:(?:\s(?:that|which))?\s(?:i|we|you)\s(?:just\s)?(?:found|read|came across|saw|retrieved|"
    r"looked (?:at|up)|pulled(?:\sup)?|opened|cited)|\s(?:that|which)\s(?:comes?|came|goes|"
    r"go)(?:\s[\w'’-]+){1,4}?)?"
    r"(?:\s(?:published|available|done|conducted|printed|accompanying(?:\s[\w-]+){1,3}?)"
    r"(?:\s(?:so far|to date|recently|last year|this year))?)?"
    r"(?:(?:,?\s(?:printed|published|conducted|done|dated|taken|written|made|performed|retrieved|"
    r"cited|included|reviewed|found|returned))?"
    r"\s(?:from|of|by|on|in|at|for|with|among)(?:\s(?!(?:he|she|they|we|i|you|it|that|which|who)\b)"
    r"[\w.'’%/-]+){1,6}?,?){0,2}?"
    r"(?:\s(?:\([^()]{0,40}\)|(?!(?:is|are|was|were|be|been|being|to|not|who|which|or|and|"
    r"that|will|he|she|they|we|i|you|it)\b)"
    r"[\w-]+)){0,3}?\s(?P<verb>" + VERB + r")\b"
    r"(?!\sbeen\b|\s(?:above|below)\b)(?P<that>(?:\s(?:the fact|it|us|me))?\s+that\b)?",
    re.IGNORECASE,
)
BEFORE = re.compile(
    r"(?:\b(?:is|are|was|were|been|being|not|as)\s(?:[a-z]+ly\s|first\s)?(?:documented|"
    r"recorded|listed|noted|reported|described|published|indexed|stated|charted|"
    r"mentioned|flagged|logged|entered|outlined|specified|cited|written|found|shown|advised|"
    r"recommended|suggested)\s(?:[\w'’-]+\s){1,10}?"
    r"(?:in|on|within)|"
    r"\b(?:is|was|were|are) the (?:conclusion|finding|result|verdict|message|upshot|view|"
    r"advice|position)s? of|"
    r"\b(?:recommendation|statement|finding|warning) in|"
    r"\bthere(?:['’]s|\sis|\sare|\swas|\swere)\s(?:[\w'’-]+\s){0,3}?(?:data|evidence|mention|record|"
    r"documentation|notes?|lines?|entry|entries|support|word|sign|trace)\s(?:[\w'’-]+\s){0,4}?"
    r"(?:in|from|on|within)|[,;(\u2013\u2014-]\s?see(?:\salso)?|"
    r"according to|\bper|as per|\bsources?:|\bsource is|\bvia|(?:documented|recorded|listed|noted|"
    r"found|reported|described|shown|published|indexed|stated|charted|mentioned|confirmed|verified|"
    r"supported|available|retrieved|seen|obtained|taken|recommended|advised|suggested|outlined|"
    r"specified|cited|quoted|drawn|pulled|sourced|extracted|copied|derived|read|learned|learnt|known|"
    r"established|demonstrated|summari[sz]ed|given|written|charted|logged|entered|noted down|"
    r"backed(?: up)?|"
    r"corroborated|borne out|flagged|highlighted|explained|discussed|presented|posted|printed|captured|"
    r"reflected|(?:laid|set|spelled|spelt) out)\s(?:directly\s)?(?:in|on|by|from|within)|"
    r"(?:clear|evident|apparent|plain|obvious|visible|known|taken straight|straight)\s(?:from|in)|"
    r"\b(?:comes?|came)\s(?:\w+\s)?from|\bcourtesy of|\bciting|\bquoting|\bas(?:\scan be)?\sseen (?:in|on))"
    r"\s+(?:the|his|her|their|this|that|a|an|our|your|its|one|two|several|many|some)?\s*"
    r"(?:[\w'’./-]+\s){0,4}\Z",
    re.IGNORECASE,
)
# "(source: PubMed, PMID 123)", not "(Wikipedia, user manuals)"; the mention itself reads \0 here.
BRACKETED = re.compile(
    r"\s*(?:[^()]{1,60}[;,]\s(?:all |both |each |as )?(?=(?:from|per|according to)\s)|"
    r"(?-i:[A-Z])[\w.'’& -]{1,60},\s|(?-i:[A-Z])[\w-]+\s|at least in\s)?(?:(?:per|sources?:?|"
    r"from|according to|via|in|see|as|the|his|her|their|patient['’]s)\s+){0,3}\0"
    r"[^,;]{0,30}(?:[,;:]\s*(?:PMID|PMC|NCT|DOI|accessed|as of|p\.|\d|updated|dated|last|page|section|"
    r"table|retrieved|version|published|available)[^,;]{0,40})?",
    re.IGNORECASE,
)
# "…, the medical record states", "…, as the EHR documents" at the end of a sentence.
STATES_BEFORE = re.compile(
    r"(?P<cut>\s*[,\u2013\u2014-]\s*)(?P<said>(?:so\s|if\s|(?:that|this)(?:['’]s|"
    r"\sis)\swhat\s|or so\s)?(?:as\s)?"
    r"(?:(?:the|his|her|their|a|an|this|that|its|one|some|most|several|recent|\w+['’]s)\s)?(?:[\w'’.-]+\s){0,3})\Z",
    re.IGNORECASE,
)
STATES_BEHIND = re.compile(
    r"(?:\s(?:update|review|analysis|report|study|paper|article|entry|page|group|authors|note|"
    r"statement|team|record|system))?"
    r"(?:\s(?:from|of|by|on|in|at|for|with)(?:\s[\w.'’%/-]+){1,5}?)?\s(?:also\s|has\s|have\s|had\s)?"
    r"(?:" + VERB + r"|record|report|document|note|puts?|put|(?:is|are)\s(?:right|correct|to be "
    r"believed|anything to go by)|(?:has|have)\sit(?:\sright)?)(?:\s(?:it|this|so|us|me))?"
    r"(?:[\s.;\"'”’)*_]*\Z|,\s)",
    re.IGNORECASE,
)
# "…, says the GP letter."
SAYS_BEFORE = re.compile(
    r"(?P<cut>\s*[,\u2013\u2014-][\"”’]?\s*)(?P<said>(?:so\s)?(?:says?|said|reports?|notes?|"
    r"states?|writes?|reads?|"
    r"finds?|shows?|argues?|claims?|explains?|suggests?|wrote|reported|noted|found|showed)\s"
    r"(?:(?:the|his|her|their|a|an|this|that|one|its)\s)?(?:[\w'’.-]+\s){0,3})\Z",
    re.IGNORECASE,
)
ENDS_AFTER = re.compile(
    r"(?:\s(?:from|of|by|dated|in|on|at)\s[^,;:]{1,50}?)?[\s.;\"'”’)*_]*\Z", re.IGNORECASE
)
# "… is what the guideline calls for."
WHAT_BEFORE = re.compile(
    r"\b(?:is|are|was|were|['’]s)\s(?:exactly\s|just\s)?what\s(?:(?:the|his|her|their|your|a|an)\s)?"
    r"(?:[\w'’.-]+\s){0,3}\Z",
    re.IGNORECASE,
)
SAYS_BEHIND = re.compile(r"(?:\s(?:[\w-]+\s){0,2}?)(?:" + VERB + r")\b", re.IGNORECASE)
# "The creatinine was 1.4 on the most recent lab panel." Trials and guidelines are also things that
# one is in; only documents about one patient are credited so.
HELD_AT_THE_END = frozenset({"lab", "imaging", "patient_record"})
ON_BEFORE = re.compile(
    r"\s(?P<said>(?:on|per|by|from) (?:the|his|her|their|this|that|a|an)\s(?:[\w'’-]+\s){0,3})\Z",
    re.IGNORECASE,
)
GENERIC = frozenset(
    "the a an of from in and patient patients patient's findings finding evidence data results "
    "result review summary information search details record records report reports section "
    "according to per based on source sources entries values what says shows his her their notes "
    "recent relevant published clinical supporting current available key "
    "overview analysis highlights contain contains contained report reports studies found shows "
    "neurologist's cardiologist's physician's doctor's clinic's it on file".split()
)

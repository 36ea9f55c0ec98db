"""What a stretch of an answer is: a factual claim, or something that claims nothing checkable (III.2)."""

from __future__ import annotations

import re

from core.decomposition.clauses import has_finite_verb
from core.evidence.values import protected_values
from core.records import ClaimType

_META = re.compile(
    r"(?:(?:successfully )?(?:completed|accomplished)\b|(?:perfect|excellent|great|sure|"
    r"certainly|of "
    r"course|absolutely|okay|ok|understood|thanks?|"
    r"thank you|you[’']re welcome|wonderful|no problem|done|hello|hi)\b[!.,]?\s*(?:\Z|i\b|let\b|"
    r"here\b)"
    r"|here(?:[’']s| is| are)\b|below (?:is|are)\b|let me\b|let[’']s\b|i[’']ll\b|i will\b|"
    r"i[’']d\b|i "
    r"would\b|"
    r"i hope\b|feel free\b|i can (?:help|provide|assist|also|offer|give|try|create|look|check|"
    r"fetch|pull|re-?run|run|repeat|redo|retrieve|search|expand|add|include|draft|reformat|"
    r"shorten|send|"
    r"share)\b|(?:just )?(?:tell me|say so|ask me|let us know)\b|if you (?:have|need|want|would|"
    r"[’']d|wish|prefer|could|can)\b|if you[’']d\b|"
    r"please (?:let|note that i|feel|provide|share)\b|don[’']t hesitate\b|happy to\b|hope (?:this|"
    r"that)\b|have a (?:great|nice|good)\b|"
    r"safe travels\b|good luck\b|enjoy\b|once (?:i|you) (?:have|provide|share)\b|"
    r"(?:based on|from|after|since|as|because|while|although) [^,:]{0,160}, (?:here(?:[’']s| is|"
    r" are)\b|"
    r"i[’']ll\b|i will\b|i can (?:provide|offer|help|give|assist)\b|i(?:[’']ve| have) (?:generated|"
    r"created|prepared|compiled|put)\b)|"
    r"(?:i|we)(?:[’']ve| have)? (?:successfully |now |also |just |carefully |already |then )*"
    r"(?:searched|looked|checked|reviewed|analy[sz]ed|gathered|retrieved|used|called|queried|"
    r"consulted|"
    r"examined|compiled|prepared|summari[sz]ed|organi[sz]ed|created|generated|completed|researched|"
    r"written|wrote|attempted|tried|apologi[sz]e|understand|need|saved|provided|included|read|"
    r"fetched|"
    r"converted|kept|left out|left off|omitted|skipped|pulled|condensed|shortened|trimmed|"
    r"grouped|sorted|"
    r"filtered|merged|focused|limited (?:this|it|the (?:answer|summary|list))|gone through|"
    r"went through|"
    r"cross-checked|opened|stuck|did not (?:try|repeat|rerun|retry)|"
    r"collected|extracted|put together|worked)\b|"
    r"(?:i|we)(?:[’']m| am| was| were|[’']re) (?:not |currently |also )*(?:unable|able|sorry|"
    r"encountering|having|going|happy|"
    r"experiencing|using|still)\b|"
    r"(?:i|we) (?:wasn[’']t|weren[’']t|couldn[’']t|could not|cannot|can[’']t|don[’']t|do not|"
    r"did not|"
    r"didn[’']t) "
    r"(?:able|find|access|have|see|locate|retrieve|get|complete|know|provide)\b|"
    r"(?:this|the) (?:answer|response|summary|report|document|overview|list|table) (?:above |"
    r"below )?"
    r"(?:provides|summari[sz]es|covers|gives|presents|is (?:ready|structured|organi[sz]ed)|should "
    r"provide|will help)\b|"
    r"(?:i )?apologi[sz]e\b|sorry\b|unfortunately, i\b|would you like\b|(?:some )?(?:additional "
    r")?notes?:?\Z)",
    re.IGNORECASE,
)
_TOOL = (
    r"(?:the )?(?:[a-z]\w*_\w+(?: (?:tool|call|search|query|request|lookup))?|tool|tool call|call)"
)
_DATA = r"(?:usable |further )?(?:data|results?|output|records?|response|hits|answer)"
_NO_DATA = rf"(?:any |no )?{_DATA}"
_RETRIEVED = r"(?:retrieved|fetched|provided|pulled(?: up)?|looked up|added|shared|searched)"
# Whole sentences about how the answer came to be; a count in them counts searches, not patients.
_PROCESS = re.compile(
    rf"no {_DATA} (?:came back|arrived|(?:was|were) (?:returned|received)|could be retrieved) "
    rf"from {_TOOL}(?P<rest1>.*)"
    rf"|(?:because |since |as )?{_TOOL} (?:failed|timed out|did not respond|was unavailable|"
    rf"could not be reached|returned (?:an error|nothing|{_NO_DATA})|"
    rf"did not (?:return|give|produce|yield) (?:anything|{_NO_DATA}))(?P<rest2>.*)"
    rf"|(?:more|further|additional|other)(?: [\w-]+){{0,3}} (?:can|could) be {_RETRIEVED}\b.*"
    rf"|(?:[\w-]+ ){{1,5}}(?:can|could) be {_RETRIEVED} (?:on request|if (?:needed|necessary|"
    rf"useful|"
    r"helpful|wanted|required))"
    r"|(?:this|that|these|those|it)(?:[’']s| is| are| was| were) (?:all|"
    r"everything) (?:that )?(?:i|we|the "
    r"(?:tools?|search(?:es)?|sources?|outputs?|quer(?:y|ies))) (?:have |has |had )?(?:returned|"
    r"gave|found|"
    r"retrieved|got|could find)\b[^,;]{0,40}"
    r"|(?:(?:a|the|my) )?(?:[\w-]+ ){0,2}(?:summary|overview|rundown|recap|results?|findings|"
    r"details|"
    r"answer)(?: (?:of|from|on|for|about) (?:[\w-]+ ?){1,5}?)? ?(?:follows?|(?:is|"
    r"are) (?:listed |shown |"
    r"given |set out )?(?:below|above))"
    r"|(?:thanks|thank you)\b[^;:]{0,60}[;:,] .{0,60}\b(?:below|here|follows?)"
    r"|what (?:i|we|the (?:tools?|search(?:es)?|sources?|outputs?)) (?:have |has )?(?:found|"
    r"returned|gave|"
    r"retrieved|got)\b[^;]{0,30}"
    r"|(?:i|we) (?:ran|made|did|used|sent|needed) (?:a|an|one|two|three|four|five|several|the)"
    r"(?: [\w-]+){0,2} (?:search(?:es)?|calls?|quer(?:y|ies)|lookups?|requests?|tools?)\b"
    r"(?: (?:per|for each|in|of) [^,;]{1,30})?"
    r"|(?:one|two|three|four|five|several|both|all)(?: [\w-]+){0,2} (?:sources?|tools?|"
    r"search(?:es)?|"
    r"databases?|outputs?) (?:was|were) (?:consulted|searched|queried|used|called|checked|read)\b"
    r"(?:, (?:the |a |an |one |two )?[\w ]{1,40})?",
    re.IGNORECASE | re.DOTALL,
)
# Behind a failed call: what that means for the answer, and nothing about a patient.
_CONSEQUENCE = re.compile(
    r"\W*|.{0,20}\b(?:i|we|that|this|its|your|the|so|and)\b.{0,40}\b(?:nothing|part|question|"
    r"missing|open|"
    r"again|unanswered|skipped|retry|left out|without it)\b.{0,40}",
    re.IGNORECASE | re.DOTALL,
)
_OWN_TEXT = (
    r"(?:this|that|these|the above|the|generated|automated|machine-generated|ai-generated)"
    r"(?: [\w-]+){0,2}? ?(?:text|answer|reply|output|response|summary|information|overview|"
    r"statements?|"
    r"content|above)"
)
_DISCLAIMER = re.compile(
    rf"\b{_OWN_TEXT}\b.{{0,40}}?\b(?:(?:may|might|can) (?:contain|include|have) (?:mistakes|"
    rf"errors|gaps)|"
    r"(?:may|might|can) be (?:wrong|incomplete|inaccurate|outdated|mistaken)|informational only|"
    r"(?:was|is|were|has been) (?:produced|generated|written|created|compiled|prepared|"
    r"drafted) (?:by|with) "
    r"(?:(?:a|an|the) )?(?:software|ai|computer|machine|automated|language|program|assistant)|"
    r"(?:should|must|needs? to|has to) be (?:double-)?(?:checked|reviewed|verified|confirmed)|"
    r"(?:has|have) not been (?:reviewed|checked|verified)|(?:is|are) (?:only )?(?:meant|intended) "
    r"(?:only )?(?:as|to|for))"
    r"|\A(?:as|being) an? (?:[\w-]+ ){0,2}(?:assistant|model|ai|software|program|system|chatbot)\b"
    r"[^,]{0,30}, (?:i|we|this)\b"
    r"|\b(?:i|we|this (?:tool|assistant|software|system)) (?:cannot|can[’']t|am not able to|"
    r"do not|don[’']t) "
    r"(?:give|offer|provide|make|examine|diagnose|prescribe)\b.{0,30}\b(?:advice|recommendations?|"
    r"patients?|diagnos[ei]s|decisions?|care|prescriptions?)\b"
    r"|\b(?:nothing|none of (?:this|it|the)) (?:here|above|in this)?.{0,30}\b(?:should|must|can|"
    r"may|is to) "
    r"(?:not )?be (?:read|taken|used|understood|treated|seen|relied)\b"
    r"|\bno (?:responsibility|guarantee|liability|warranty)\b.{0,40}\b(?:taken|given|accepted|"
    r"made|assumed|"
    r"offered)\b"
    r"|\b(?:decisions?|responsibility|judge?ment)\b.{0,50}\b(?:remains?|rests?|lies?|"
    r"stays?) (?:with|the "
    r"responsibility|up to|that of|a matter for|in the hands)\b"
    r"|\b(?:individual|personal) (?:circumstances|situations?|cases|needs) (?:may |can |"
    r"will )?(?:vary|differ)"
    r"|\bprofessional (?:review|judge?ment|assessment|evaluation|oversight)\b.{0,30}\b(?:essential|"
    r"necessary|required|needed|indispensable)\b"
    r"|\A(?:it is |this is )?not (?:intended|meant|suitable|designed) (?:for|as|to)\b"
    r"|\A(?:[\w-]+ ){0,3}(?:data|information|rules|prices|terms|listings|availability) (?:may |"
    r"can |do |"
    r"often |sometimes )*(?:change|go out of date|become outdated)(?: over time| often|"
    r" without notice)?\W*\Z",
    re.IGNORECASE | re.DOTALL,
)
_BOILERPLATE = re.compile(
    r"\b(?:not (?:a )?(?:substitute for|intended (?:as|to)|medical advice|constitute|"
    r"professional advice|"
    r"legal advice|financial advice)|(?:for|purely for) (?:general )?(?:informational|information|"
    r"educational) "
    r"(?:purposes|use)|as an ai\b|as a language model|i(?:[’']m| am) (?:not a (?:doctor|physician|"
    r"clinician|"
    r"lawyer|medical)|an ai)|(?:cannot|does not|should not|can[’']t) (?:replace|substitute|"
    r"be used as)|"
    r"no (?:warranty|liability)|results may vary|always verify|verify (?:this|the) information|"
    r"may (?:contain|include) (?:errors|inaccuracies)|is provided (?:as is|without))",
    re.IGNORECASE,
)
_REFERRAL = re.compile(
    r"\b(?:consult|see|speak (?:to|with)|talk (?:to|with)|discuss (?:this |it |"
    r"these )?(?:\w+ )?with|"
    r"contact|check with|"
    r"ask|follow up with|refer to|reach out to) (?:with )?(?:your|a|an|the|their|his|"
    r"her)\s(?:[\w-]+\s){0,3}?"
    r"(?:doctor|physician|provider|clinician|professional|pharmacist|specialist|team|prescriber|"
    r"nurse|"
    r"cardiologist|nephrologist|endocrinologist|oncologist|gp|practitioner|agent|advis[oe]r|"
    r"lawyer)\b|"
    r"\bseek (?:immediate |emergency |prompt |urgent )?(?:medical|professional|emergency)\b|"
    r"\bseek (?:immediate|urgent|prompt) (?:care|help|attention)\b|"
    r"\A(?:please )?(?:have|get|let|ask) (?:a|an|the|your|another|"
    r"someone)\b(?: [\w-]+){0,3}? (?:to )?"
    r"(?:double-|re-?)?(?:verify|check|confirm|review|sign off|approve|look)\b|"
    r"\A(?:it|this) (?:would|might|may|could) be (?:[a-z]+ly )?(?:sensible|wise|prudent|"
    r"advisable|best|"
    r"worthwhile|worth|safest|a good idea) (?:to )?(?:double-|re-?)?(?:confirm|check|verify|"
    r"review|ask|"
    r"discuss|raise|having)\w*\b|"
    r"\bmedical (?:advice|supervision|guidance) (?:is|should be)\b",
    re.IGNORECASE,
)
_ADVICE = re.compile(
    r"(?:(?:in addition|also|finally|additionally|therefore|overall|for best results|to \w+(?: "
    r"\w+){0,6}|instead|alternatively),?\s+)?"
    r"(?:you (?:should|may want|might want|might|could|can|need to|must|will need|may need|"
    r"may wish|"
    r"may consider)\b|"
    r"(?:i|we)(?:[’']d| would)? (?:strongly |also )?(?:recommend|suggest|advise|encourage|urge)\b|"
    r"it(?:[’']s| is) (?:generally |also |strongly |always )?(?:recommended|advisable|advised|best|"
    r"important|essential|crucial|worth|a good idea|wise) "
    r"(?:to|that you|for you)\b|"
    r"(?:please |always |never |see (?:the|also|below|section) |be sure to |make sure |do not |"
    r"don[’']t |try to |remember to )"
    r"|(?:consider|use|check|visit|try|look|avoid|keep|ensure|monitor|review|follow|choose|"
    r"download|"
    r"book|plan|learn|focus|practice|process|convert|emphasi[sz]e|prioriti[sz]e|improve|understand|"
    r"share|submit|contact|call|visit|"
    r"master|start|aim|add|ask|bring|buy|carry|compare|confirm|continue|copy|create|customi[sz]e|"
    r"discuss|document|draw|"
    r"explore|fill|find|give|go|install|leave|maintain|park|pick|place|play|prepare|read|record|"
    r"reduce|reassess|recheck|repeat|"
    r"replace|run|save|schedule|select|set|stay|stop|switch|take|test|think|track|understand|"
    r"verify|"
    r"wait|warm|watch|work|write|"
    r"stir|steam|simmer|boil|peel|roll|rinse|heat|blend|pour|arrange|remove|obtain|refer|arrive|"
    r"shop|"
    r"evening|"
    r"build|know|minimi[sz]e|maximi[sz]e|encourage|educate|optimi[sz]e|titrate|administer|order|"
    r"initiate|hold|assess|evaluate|screen)"
    r"\s(?!\w+\s(?:is|are|was|were|has|have|had)\b)(?=[a-z0-9(])(?!of\b|and\b|in\b|is\b|are\b|"
    r"was\b|"
    r"to\b|for\b|by\b))",
    re.IGNORECASE,
)
# Marked as an opinion by how the sentence ends or is built, wherever the mark stands.
_LONGEST_ASIDE = 400  # characters; a longer "sentence" is a dump
_MARKED_OPINION = re.compile(
    r".*\b(?:but|though|although|and)? ?(?:that|this|it)(?:[’']s| is| remains) (?:only |"
    r"just )?(?:my|our) (?:own )?"
    r"(?:reading|opinion|view|interpretation|impression|guess|inference|take|judge?ment)\W*"
    r"|.*\b(?:seems?|looks?|sounds?|feels?|appears?)\b.{0,60}\bto me\W*"
    r"|(?:i|we) (?:find|found|consider) (?:it|this|that|the [\w-]+|"
    r"these [\w-]+) (?:to be )?(?:(?:rather|quite|"
    r"very|fairly|somewhat|less|more|most|not) )*(?:persuasive|convincing|reassuring|encouraging|"
    r"compelling|"
    r"worrying|concerning|plausible|reasonable|promising|striking|disappointing|surprising|thin|"
    r"weak|strong)"
    r"\b.{0,40}"
    r"|whether .{1,80}\b(?:is|remains) (?:for|up to|a (?:matter|question|decision) (?:for|of)|"
    r"left to) .{1,60}",
    re.IGNORECASE | re.DOTALL,
)
_OPINION = re.compile(
    r"(?:(?:to my mind|as i see it|to me|from my (?:perspective|point of view)|"
    r"in my (?:judge?ment|reading|"
    r"assessment|estimation)|my (?:reading|sense|take|view) is)\b|(?:i|we) (?:think|believe|feel|"
    r"suspect|prefer|would say|guess)\b|in my (?:opinion|view)\b|"
    r"personally\b|"
    r"it seems to me\b|my (?:impression|guess|recommendation|favou?rite)\b)",
    re.IGNORECASE,
)
# What follows is wished for, asked for, missing or about the answer, not stated.
_OPEN_ENDED = re.compile(
    r"\b(?:if|whether|anything|hope|you|your|what|how|once|helpful|ready|unable|apologi[sz]e|"
    r"sorry|as "
    r"requested|"
    r"found:?\Z|wasn[’']t|couldn[’']t|could not|cannot|can[’']t|don[’']t|do not|didn[’']t|did not|"
    r"below|above|on request|would help|"
    r"summary|overview|report|presentation|document|file|diagram|chart of)\b",
    re.IGNORECASE,
)

_GENERIC_WORDS = frozenset(
    "a about above additional all an analysis and answer attempt attempts any assessment at "
    "available background based basic "
    "below brief bottom by comprehensive conclusion conclusions considerations context current data "
    "description detailed details discussion evidence executive explanation facts features final "
    "finding findings following for from general guidance here highlights i identified important in "
    "included includes including information insight insights interpretation introduction is it item "
    "items "
    "key limitations line list main major more my note notes notable of on options other our "
    "outcome outlook overall overview part point points quick recommendation recommendations "
    "recommended reference references relevant report response result results review search "
    "section significance significant some source sources specific specifically statement steps step "
    "summary takeaway takeaways that the their these things this tips to topic what with what's "
    "your you found accomplished created results: next action actions impact disclaimer caution warning "
    "practical useful benefits why how retrieved gathered contents content bottomline it's works "
    "answering direct short long full complete also verdict advice".split()
)
_PROGRAM_LANGUAGES = frozenset(
    "python py js javascript ts typescript tsx jsx java c cpp c++ cs csharp go rust ruby php sql bash sh "
    "shell zsh powershell html css scss xml yaml yml toml mermaid graphviz dot r matlab kotlin swift "
    "diff dockerfile makefile latex tex regex http curl".split()
)


def claim_type_of(text: str, *, credited: bool) -> tuple[ClaimType, str | None]:
    """What the text is, and in plain words why it is set aside (None for a factual claim).

    ``credited`` says that the answer names a source for it. A disclaimer, a remark about the answer
    or an advice that holds a concrete value stays factual: setting it aside would let it pass.
    """
    bare = text.strip(" \"'“”*_-–—•>")
    if bare.endswith(("?", "？")):
        return ClaimType.QUESTION, "A question: it asserts nothing."
    if _concrete(bare):
        return ClaimType.FACTUAL, None
    meta = _META.match(bare)
    if meta is not None and not _asserts(bare, meta.end()):
        return ClaimType.META, "A remark about the answer itself or how it was made."
    if bare.endswith((":", "：")):
        return ClaimType.META, "An introduction to what follows."
    if credited:
        return ClaimType.FACTUAL, None
    if _BOILERPLATE.search(bare) or _DISCLAIMER.search(bare[:_LONGEST_ASIDE]):
        return ClaimType.BOILERPLATE, "A general disclaimer: no source could support it."
    if _REFERRAL.search(bare):
        return ClaimType.ADVICE, "Advice to consult someone: it asserts no fact."
    if _OPINION.match(bare):
        return ClaimType.OPINION, "An opinion: it asserts no fact that a source could hold."
    if _ADVICE.match(_behind_label(bare)) or (_ADVICE.match(bare) and not _label_only(bare)):
        return ClaimType.ADVICE, "Advice on what to do: it asserts no fact."
    return ClaimType.FACTUAL, None


def aside_of_sentence(text: str) -> tuple[ClaimType, str] | None:
    """What a whole sentence is when its build or its end sets it aside; None when it must be read on.

    Such a sentence is judged before it is split: half of it would read as a fact.
    """
    bare = text.strip(" \"'“”*_-–—•>.!")
    if len(bare) > _LONGEST_ASIDE:
        return None
    process = _PROCESS.fullmatch(bare.rstrip(":： "))
    if process is not None:
        rest = process.group("rest1") or process.group("rest2") or ""
        if _CONSEQUENCE.fullmatch(rest) and not re.search(r"\d", bare):
            return ClaimType.META, "A remark about the answer itself or how it was made."
    if _concrete(bare):
        return None
    clauses = bare.split("; ")
    kinds = [claim_type_of(clause, credited=False) for clause in clauses]
    if len(clauses) > 1 and all(kind is not ClaimType.FACTUAL for kind, _ in kinds):
        return kinds[-1][0], kinds[-1][1] or ""
    if _MARKED_OPINION.fullmatch(bare):
        return ClaimType.OPINION, "An opinion: it asserts no fact that a source could hold."
    if _DISCLAIMER.search(bare) and not re.search(r";|, (?:and|but) (?:he|she|his|her)\b", bare):
        return ClaimType.BOILERPLATE, "A general disclaimer: no source could support it."
    return None


def is_generic_title(title: str) -> bool:
    """Whether a heading names no subject: "Key Findings", "Summary of results", "Conclusion"."""
    words = re.findall(r"[^\W\d_]+(?:['’][a-z]+)?", title.casefold())
    numbered = any(character.isdigit() for character in title)
    return bool(words) and not numbered and all(word in _GENERIC_WORDS for word in words)


def is_program(text: str, language: str) -> bool:
    """Whether a fenced block is code or a drawing rather than prose or records in a box."""
    if language in _PROGRAM_LANGUAGES:
        return True
    lines = [line for line in text.splitlines() if line.strip()]
    readable = sum(_reads(line) for line in lines)
    return 2 * readable < len(lines)


def _reads(line: str) -> bool:
    words = re.findall(r"[^\W\d_]{2,}", line)
    letters = sum(character.isalnum() or character in " .,:%/()-" for character in line)
    if re.search(
        r"[{};]\s*\Z|\A\s*(?:def|class|import|from|const|let|var|return|function)\b|=>|\(\)|==",
        line,
    ):
        return False
    return len(words) >= 2 and letters >= 0.85 * len(line.strip())


def _asserts(text: str, at: int) -> bool:
    """Whether a fact stands behind the remark: "I reviewed her chart and she has no allergies"."""
    if _OPEN_ENDED.search(text):
        return False
    # "The retrieved documents", "additional records": nouns here, whatever verbs they may be elsewhere.
    rest = re.sub(
        r"(?i)\b(?:retrieved|returned|additional|available|relevant|further|other|more|different|"
        r"tool) "
        r"(?:documents?|records?|reports?|notes?|results?|lists?|tests?|outputs?|formats?)\b",
        "",
        text[at:],
    )
    return re.search(r"\b(?:that|no|not|never)\b", rest) is not None or has_finite_verb(rest)


def _concrete(text: str) -> bool:
    return any(value.kind != "name" for value in protected_values(text))


def _behind_label(text: str) -> str:
    match = re.match(r"[^:.!?]{1,60}:\s+", text)
    return text[match.end() :] if match is not None else text


def _label_only(text: str) -> bool:
    return re.match(r"[^:.!?\s]{1,24}:\s", text) is not None

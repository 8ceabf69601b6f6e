/**
 * English parameters of Punkt, taken from its published parameters and reduced to those that can change a verdict.
 * Abbreviations, collocations and sentence starters are complete. Punkt knows the capitalisation of 20,000 words from
 * newspapers. This list keeps those that occur at least 20 times in lower case in 26 MB of freely licensed prose
 * (exercises, prompts, manuals), and some words that begin outlines or sentences. For each word it keeps only
 * whether a capital letter shows that a sentence begins. A rarer word counts as never seen.
 * Source: Kiss and Strunk 2006; the English parameters trained on newspaper text.
 */

const list = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** Abbreviations in lower case, without the last dot; ". . " is an ellipsis written with spaces. */
export const ABBREVIATIONS: ReadonlySet<string> = new Set(
  list(`
  a.a a.c a.d a.g a.h a.m a.m.e a.s a.t adm ala ariz aug ave b.f b.v bros c c.i.t c.o.m.b c.v calif chg cie
  co col colo conn corp cos ct d d.c d.h d.w dec dr e e.f e.h e.l e.m f f.g f.j feb fla fri ft g g.d g.f g.k
  ga gen h h.c h.f h.m i.m.s ill inc j.b j.c j.j j.k j.p j.r jan jr k kan ky l l.a l.f l.p lt ltd m m.b.a
  m.d.c m.j maj messrs mg mich minn mr mrs ms n n.c n.d n.h n.j n.m n.v n.y nev nov oct ok okla ore p p.a.m
  p.m pa ph.d prof r r.a r.h r.i r.j r.k r.t rep reps s s.a s.a.y s.c s.g s.p.a s.s sen sep sept sr st sw t
  t.j tenn tues u.k u.n u.s u.s.a u.s.s.r v va vs vt w w.c w.r w.va w.w wash wed wis yr
`),
).add(". . ");

/** Words that begin sentences far more often than chance. */
export const SENTENCE_STARTERS: ReadonlySet<string> = list(`
  according although among both but despite even he however i if in indeed instead it many meanwhile
  moreover most nevertheless nonetheless nor sales separately similarly since so some the there these they
  this though thus under when while yet
`);

/** Pairs "word next": a dot between the two words does not end a sentence. */
export const COLLOCATIONS: ReadonlySet<string> = new Set(
  [
    [
      "##number##",
      "abreast",
      "aes",
      "business",
      "cbot",
      "colgate",
      "commodities",
      "cooper",
      "corrections",
      "credit",
      "dividend",
      "financing",
      "genentech",
      "henley",
      "insider",
      "international",
      "leisure",
      "letters",
      "notable",
      "pay-fone",
      "pegasus",
      "pepper",
      "review",
      "rj",
      "wedgestone",
      "who",
      "zimmer",
    ],
    ["b", "edelman", "levine", "smith", "stewart", "wigton"],
    ["i", "magnin", "toussie"],
    ["j", "aron", "fialka", "walter"],
    ["o", "ludcke"],
  ].flatMap(([word, ...followers]) => followers.map((next) => `${word} ${next}`)),
);

/** Words in lower case that are capitalised only where a sentence begins. */
export const SENTENCE_WORDS: ReadonlySet<string> = list(`
  abandoned abbreviation able above absence absolutely academic accept acceptable acceptance accepted
  accepting accepts accessibility accessible accident accordance accordingly accumulated accuracy accurate
  ace achieve achieved achievements acknowledge acknowledgment actions activated active actors ad adapt
  adaptation adapted adding addition additions address addressed addresses adds adjacent adjust adjusted
  advantage advantages adventure advertise advertised advice advised advisory affected affects afterward
  afterwards agent agents aggregate agreed agreements ahead aims album alert aligned alive allocated allow
  allowed allowing allows almost along alphabet already alternative alternatives altogether always
  ambassadors ambiguous ambition amend amount analysis ancient angle animal animals animation anniversary
  annual anonymous answers anybody anyone anything anyway anywhere apparently appear appearance appeared
  application applications applied applies apply applying appreciated approach appropriate approximate apt
  arbitrary architecture architectures argument arguments arising arm arrange arranged arrangement
  arrangements array arrival arrive article articles artist artistic ask asked asking aspects assembly
  assert assertion assertions assign assigned assignment assignments associate assume assumed assumes
  assuming athletes attach attached attack attacks attempted attempting attempts attention attitude
  attribute attributes audience audiences audio audit author authorization authorize authorized authors
  automated automatically autumn availability available awaited awards aware ax backer bag balanced balls
  band banner barrier barriers bars bases basic basis bat battles beaches became become becoming bed bedroom
  begin behalf behavior behind being belief believe belong belongs bench benchmark beneath benefit besides
  beta better between beverages beyond bigger binding biography birds birth bit bits blame blocked blocking
  blocks body bold boot bound boundaries box boxes boy boys braces bracket brackets branch branches brand
  breach bread break breaking breaks breathing broke broken brother budgets buffer build builder builds
  built bunch bundle bus businesses butter bypass calculate calculated calculating calculation call calling
  came camera camping cancel canceled cancellation candidate candidates cannot capabilities capability
  capable capture captured car carbon careful carefully carried carry carrying cast casting categories
  caught cause caused causes causing caution caveats cell cells centered certainly certificate certificates
  challenge challenges chance channels character characters charge check checked checking cheese chef chess
  choice choices choose chooses choosing chorus chosen chunk circles circumstances claim claimed clarified
  clarity classes classification clause cleaning client climate clock clones closes closest closing clothes
  clothing cloud clubs cluster coaches coaching codes coerce coercion coin coins cold collaboration collect
  collected collecting collections collective colleges colony colored colors column columns combination
  combinations combine combined combining comedy comment comments commit commits commonly communicate
  compact compare compared compares comparing comparison comparisons compatibility compatible compiled
  complain complete completed completely completion complexity compliance comply component components
  composed composer composition compound compression compulsory concerning concerns conclusion conclusions
  concrete condition conditional conditions conflict conflicting conflicts conform confused confusing
  conjunction connected connecting connection connections consecutive consent consequences consequential
  consider consideration considerations considered considering consist consistency consistent consistently
  consisting consists console consolidate constant constitute constitutes constraints constructed consult
  consumed consumption contact contain contained containers containing contains content contents context
  continuation continued continuing continuous contrast contribute contributed contributing contribution
  contributions contributors controlled controller controlling convenience convenient conventions
  conversation conversion conversions convert converted converting cookies cooking coordinate cope copied
  copies copy copying copyright core corner correct corrected correctly corresponding corresponds corrupt
  corruption cost costumes counted counter counting counts couple courage course covered crash create
  created creates creating creation credentials credits crew crimes criteria criticism criticisms critics
  cuisine cultural currently custom customer customized cycle cycles damages dancing dark dash database date
  dates daughter deadlock dealing dealings deaths debate debates decide decisions declaration declarations
  declare declared decoder decompression decorated decorator decrease dedicated deemed deep deeper default
  defect defects deferred define defined defines defining definition degree degrees deleted deleting
  delivered delivery demographics denied depend dependency dependent dependents depending depends deploying
  depth derivative derive derived descendant describe described describes describing description designated
  designed designer designs desirable desktop destinations destroy destroyed detail detailed details
  detected detection determine determined determining develop developed developer developers developments
  diagnose diagnosed diagnostic diagram dialogue diameter dice dictionary die diet differ difference
  differences different differently differs difficult dining diplomacy direct direction directions directive
  directly dirty disable disadvantages disaster discard disconnect disconnected discord discouraged discover
  discovered discovery discussion discussions disk dispatched display displayed displaying displays dispose
  distance distinct distinguish distribute distributed distributing distributions dive divided doctor
  document documentary documentation documents does dogs doing dollars donations done dot dotted double
  doubt drama draw drawing drawn draws dress drink drinks driven dropped drugs dummy dump duplicate
  duplication duration dynamic eager earlier early easier easily economies edge editing effective
  effectively effects efficiency efficient egg eight either elections element elements else elsewhere
  embrace emergency emeritus emits emotional emotions empathy empire employee empty emulate enable enabled
  enables enabling enclosed encountered encourage endorse enforce enforced engineer engineers engines
  enhance enhanced enjoy enough ensure ensures ensuring enter entered entering entire entirely entities
  entity entrepreneurs entries entry environment environments epidemic equal equality equally equals
  equation equivalent era errors escape especially essay essays essential essentially establish established
  establishment et etc ethnic evaluate evaluating evaluation event eventually ever everyday everywhere
  evidence exact exactly examination example examples exceed exceeded exceeding exceeds except exception
  exceptions excess excitement exclude excluded excludes excluding exclusive execute executed executes
  execution exercise exercises exercising exhausted exist existed existence existing exists exiting expand
  expanded expanding expansion expectation expecting expenses expensive experience experiences experimental
  expiration expire expired expires explain explaining explanation explicit explicitly explore exponent
  export exported exposed expressed expression expressions extend extending extent external extinction extra
  extract extracting extraction extremely eyes fabric facility fact factor factory failing fairly faith fake
  falling fame familiar families fans farmers farming fashion faster fat fatal favor favorite fear fears
  feature features feedback feet fetch fetched fewer figure file files fill filled filling films final
  finally finances finder findings finish finished fired fish fishing fit fitness fix fixed flag flaky
  flexibility flexible float floating flood floor flowers flowing flush fly fold follow followed following
  follows forbid forbidden forced forces forever forget fork formal format formed formerly formula forth
  forward forwarded fraction framework frankly freed freely freeze frequency friend friendly friendship
  frozen fruits fulfilled fully functions funny furnished furthermore gained garbage gardening gathered gave
  gender generate generated generating generator genres gentle girl girls given gives giving global goals
  goes going golf governments grab gracefully grants greater greatest grid ground guarantee guarantees
  guards guess guest guests guidance guidelines guides guitar hair handful handle handled handles hands
  handy happen happened happens happy harder harvest heading heads healthy hear heavily height helpful helps
  hence her here hero heroes heroine hide hiding hierarchy high-level highest highlight highlights highly
  hiking him himself hint hints historical hits hobbies hold holds holidays homework honestly honesty honor
  honors horse host hosted hosts hot hour hours huge humanity humans humor hunger hunting idea ideal
  identical identification identified identity idle ignore ignored ignores ignoring illegal illness
  illustrates image imagery images imaginative imagine immediate immediately immigrants implement
  implementation implemented implementing implications implicit implied implies import importance important
  imported importing impossible improve improved improvement improvements improves improving include
  included including inclusion incomplete inconsistent incorporate incorporated incorrect incorrectly
  increased incremental indefinitely independence independent independently indexed indicated indicates
  indicating indication indirect indirectly individual individually individuals inefficient inference
  influence inform informative infringed infringement ingredients inherit inherited initial initially
  initiatives inject injected injuries injury inner innovations input insecure insensitive inside insights
  inspect inspected inspection inspector inspired install installation installed installing instance
  instances instead instructions intact integrate integration integrity intellectual intend intent intention
  intentionally interact interceptors interested interesting interfere interior interpret interpreted
  interrupted interviews into introduced introduces introducing invalid invasion invention invitation
  invoked invoking involve involves irrelevant issued item items jewelry joined joke jokes journalism
  journalist journey judges jumps jungle junk jurisdiction justify keeps kept keyed kill killed kinds
  kitchen knowledge known labeled laboratory lack lacked lacks landing language languages larger latter
  laugh launched layout le leaders leadership leading leaf leak leaked leaks leap learn learned learns least
  led legends length lesson lessons lets letters liability liable libraries licensed licenses licensing lie
  lies lifetime lighting limerick limitation limitations limiting linear linked linking links list listed
  listen listeners listening listing lists literally literary literature litigation lives living locally
  locate located location locations lock locked logical logistics logo logos longest looked looking loose
  lose losing lot lunch luxury lyrics mailbox maintain maintained maintaining maintenance majority makeup
  manage managed manager manages managing mandatory manner marked marking marriage mask match matched
  matching math mathematical mathematics maximum meal meals mean meaning meaningful measured measurement
  measures mechanism median medication medicines meditation medium meetings meets member membership memo
  mental mention mentioned merely merge merged merging message messages meter meters method methodology mid
  miles milk mind minimal minimize minimum ministers minus minute mishandled missing mistake mistakes mix
  modification modifications modified modify moment months mood moral morality moreover mother mothers
  motivations moved movements multiple multiples multiply murder museums musicians mutually myth narration
  narrative native naturally nature nearest necessarily necessary need needed needs negative negotiation
  neighborhood neighboring neighbors neither newer newest newly newspaper nodes noise nomination non
  nonetheless nonsense nor normally notable notably notation note noted nothing noticed notices notification
  notified notify novel nowhere number numbers numerical nursing nutrition object objectives objects
  obligation obligations observe observed obtain obtained obtaining obvious occasionally occur occurred
  occurrence occurs odd offered offset older omit one-time ones ongoing onto opened opening opens operate
  operates operator operators opinions opportunities opportunity opposite optional ordered ordering ordinary
  organizations organizer origin original originally origins otherwise ought outcome outdated outer outgoing
  outstanding overall overhead overlap overload override owned owner ownership pack packages packed packs
  padding page pages paid pain paint painted painters paintings pair parade paragraphs parallel parks
  partial partially participants participate participation particular particularly partner pass passed
  passengers passes passing passion password path paths patient patients patterns pause payload peek peer
  pen pending pep per percent percentage perfect perfectly perform performance performances performed
  performing performs periods permanent permission permit permitted perseverance persist persistent person
  personal personality personally persons phase philosophy photographer photography phrase physical pick
  piece pieces pipe pipeline pipes pitch places plain plainly plane planet planned plate platform platforms
  play played player playing plays please plot plugged plumbing poems poet pointed pointing points political
  politicians politics pool pools poorly pop populated populations port portion ports position positive
  possibilities possibility possibly potential potentially poverty powerful powers practical practice prayer
  preceding precise precision predictable predictions prefer preference preferred premiere preparation
  prepare prepared preparing presence present presentation presented preserve preserved preserving
  presumably pretty prevent prevented preventing prevents preview previous previously pride priest primarily
  primitive printable printed prior priority private probably problem problems procedures proceed process
  processed processes processing processor prod produced produces producing product productivity professor
  profile program programming progression projects prominent promise promises promotion promotions prompt
  prompted proof prop propaganda proper properly proposed prosperity protect protected protecting protein
  protests prove provide provided provider providers provides provision provisions proxies psychological
  psychology publication publicity publicly publish published publisher pull pulled punishment pure purposes
  pushed pushing put puts qualified question questions quietly quotation quoted quotes quoting races racing
  rain ran range ranges rarely ratio rational raw reachable reaches reaction reactions readable reader
  readers readonly reads reality realms reasonable reasonably rebuild receive received receiving recent
  recently reception recipe recipes recipient recipients recognition recognize recognized recommend
  recommendation recommendations recommended recorded recreational recruitment recycling reduced refer
  referred referring refers reflect reflected reforms refugees refuse refused regarding regardless region
  regional regions registered registering registration registry regular regulations rehabilitation rejected
  rejection relating relation relationship relationships relative relatively released releases relevant
  reliable relied relies religion religions religious rely remain remainder remaining remarkably remember
  remote removal remove removed removing renamed render rendered rendering renovation rent repeated
  repeatedly repeating replace replaced replacement replacing reply reporting repositories represent
  representation representations represented representing represents reproduce reputation requested
  requesting require required requirements requires requiring rescue researchers reserved resilience
  resolution resolved resolves resolving respect respectively respond response responses responsibilities
  responsible restart restaurant restaurants restoration restore restrict restricted restriction
  restrictions result resulted resulting results retain retained returned returning revenge reverse reversed
  revert reverted reviewed reviews revise revision revisions revocation rewards rewritten rhythm right roads
  robust romance romantic roots roughly round rounded routine routines rows royalties ruler runs rural sadly
  sadness safe safer salad same sample samples sanitation satisfied satisfy satisfying saved saving saw
  scale scenario scenarios scene scenes schedule scheduled schemes scholarship scholarships scientist scope
  score screenplay script scripts se searched season seasonal seasons seconds secrets section sections
  secure seed seeds seeing seem seems segment segments select selected selecting selection senator send
  sends sense sensitive sent sentence sentiment separate separated separately separating serial seriously
  servants serve served serves serving session sessions setting settings setup seven shallow shape shared
  sharing shelf shell shelter shift shipped shipping ships shirt shoes shortcut shorter shot showing shown
  signals signed significance significant significantly signing silence silently similar similarities
  similarly simple simpler simplest simplicity simply simultaneously sin sing single sister sit sitting
  situations size skiing skill skills skin skip skipped slash slashes slow slower slowly smaller smallest
  smile snapshot snow so societal soil soldier soldiers sole solely solution solutions solve solved someone
  sometimes somewhat songs soon sort sorting soul sounds source spaces sparse spawn spawned speak speakers
  speaking specialized species specific specifically specifications specified specify speech speeches speed
  speeds spell spend spending spent sphere spirit spirits spiritual splits sponsor sport sporting spouse
  spread squares squash stability stable stage staged stages staging stand standing stands started starting
  stated statement statements status statute step stigma still stopped stopping stops storage stored stories
  strange stray stream streams strength strengths stress strict stricter strictly string strip stripped
  stripping strongly structure structured structures studio studying style submit submitted subscribe
  subscribers subsequent subsequently substantial substitute substitution subtle succeed succeeded succeeds
  success successful successfully such suddenly suffering sufficient suggest suggested suggests suitable sum
  sums supervision supplied suppliers supported supporting supports suppose supposed supposedly suppress
  suppressed surely surface surgery surprising surprisingly surveys survival suspense sustainable swim
  swimming switching symbolic symbols sympathy symptoms tables tagged tags taking tale talent talents tap
  targets task taught tea teach teacher teaching team teams technique technological telling temperature
  temporarily temporary ten tension term terminating termination terms territory terrorism tested testing
  text textbook thanks theaters them themes themselves theory therapy thereafter thereby therefore thin
  things think third-party though thought threat threshold thriller through throughout throw throwing thrown
  throws thus tick ticket tightened timed timing tip tips title together token tone took top-level topics
  touches tourist tourists tournament towards towns trace tracks trademark trademarks traditional
  traditionally traditions trail trailing train trained transfer transferable transferred transformation
  transformed transition translate translated translation transmission transmitted transports traveling
  treat treated treatment treats trees trials tribute tried tries trigger triggered triggering trim triple
  trips triumph trivial true truly trusted truth try trying tuition turmoil turn turned turns turtle tweak
  twist type typical typically ultimately unable unavailable unaware unchanged underline underlying
  underscore underscores understand understands understood undoubtedly unexpected unfortunately uniform
  uniformly unique unity universities unknown unless unlike unlikely unlimited unnecessary unrelated unsafe
  unspecified unsupported unusual unwanted up-to-date updated updates upon us usable useful user uses using
  utilization vacation vacations vaccines valid values variable variant variety various vary vegetable
  vegetables vendor vendors verified verifying version versions very via vibrant victim victories victory
  videos village villages violation virtual virtues visible vision visitor visitors visual vocabulary void
  volunteers voters vulnerability vulnerable wait waiting waived walk walking walks wanted wants warfare
  warn warned warning warnings warns warranties waste watching weaknesses wealth weapons wear weather web
  wedding weddings weeks weight weights welcome well-known went were whatsoever wheels whenever whereas
  wherever whether which whichever whole whom wide widely win window wines winner winners wisdom wish within
  without witness wonders words worked workforce working workout world-wide worse wrapped writer writers
  writes writing written yes yet yielded yielding yields your yourself youth zero zeros zone
`);

/** Words in lower case that are capitalised inside sentences too: in names, titles and headlines. */
export const COMMON_NAMES: ReadonlySet<string> = list(`
  a ability about absolute access according account acquire acquired across act action activities activity
  actor actress acts actual actually add added additional advance advanced advertising affect after again
  against age agency ago agree agreement agrees air all alone also alter although am amid among an and anger
  another answer any anymore apart apparel appears approval approve approved are area areas around art
  artists as asks assessment assets associated at atom atomic attempt authority auto automatic average avoid
  avoided await award away b baby back background backlog bad balance ball ballet bank banks bar base based
  basically battle be beach beauty because becomes been beer before began beginning begins behave below
  benefits best big birthday black block blue board bob bonds book books border born both bottom bought
  breakfast bride brief bring broadcast brothers brought budget building buildings business busy but buy by
  c calendar called calls campaign campaigns can cancer candy cap capacity capital card cards care career
  careers cars case cases castle cat catch category cats center centers certain chain chains champion change
  changed changes changing channel chapter charged checks chicken child children chocolate church cities
  citizens city civilization claims class clean clear cleared clearly clients close closed closely closer
  club coach code coffee collapse collection college color come comes coming command commerce commercial
  common communities community companies company competition completes complex computer concept concert
  confidence confusion congress conservation construction consumer consumers container continue continues
  contract control controls convention converts cooperation costs could council count countries country
  court courts cover coverage creative credit crime crisis critical cross crucial cry culture cup currency
  current customers customs cut d dad damage dance data day days de dead deal death debt decided decision
  decline definite definitely delay demand democracy departure des desert design despite detect development
  device devices di did died digital dinner director directors disease diseases distribution division do
  doctors dog down dream dreams drive driving drop dry du due during duties each earth easy eat economic
  economics economy editor education educational effect effort efforts election electricity electronic
  employees employment en encouraged end ended ending ends energy engine engineering entertainment
  environmental equipment error estimate ethics even events every everybody everyone everything exchange
  exempt exit expect expectations expected expects exploration exporting exports express extended extends
  extension face faces factors fail failed fails failure failures fair fall falls false family far farm
  farmer fast father fed federal fee feed feel feelings festival few field fields fight film finance
  financial find finding finds fine fire first five flat flow focus food foods football for force foreign
  forest form former forms found four fourth free freedom fresh friends from front fruit full fun function
  fund funding furniture further future futures gain gallery game games garden gas general generally
  generation generators generic get gets getting give go goal gold gone good goods got governing government
  grace gradually graduation grant granted graphics gray great green group groups grow growth guaranteed
  guard guide guilty had half hand handling hard hardware harmony has have having he head health heart held
  help hidden high higher his history hit holder holders holding holiday home homes hope horses hospital
  hotel hotels house household housing how however hub human ice identify if immigration impact imports
  impose in includes income increase increases increasing index indexes indicate indicator industrial
  industries industry inflation information institution institutions insurance intelligence intended
  interest intermediate internal international interview introduce introduction investment investments
  involved is island islands isolated issue issues it its itself job jobs join journals judge jump just
  justice keep keeping key kind king know knows la labor land landscape large largest last late later latest
  law laws lawyer lawyers lead leader leaking learning leave leaves leaving left legal lengths less let
  letter level levels license life light like likely limit limited limits line lines link little live load
  local locals logic long longer look looks loss lost lots love low lower lowest loyalty luck machine
  machinery machines made magazine magazines magic mail main maintains major make makes making man
  management managers manufacturing many maps maritime mark market marketing markets marks mass master
  material materials matter matters may maybe me means meant meanwhile measure meat media medical medicine
  meet meeting members memories memory merchants met methods middle might military million minerals minor
  minutes mirror mirrors mixed model models modern money month more most mostly motion mount mountain
  mountains move movement moves movie movies moving much museum music musical must my name named names
  naming narrowing national natural near net network networking never new news newspapers next nice night
  nightly nine no nobody none normal not notes notice novels now obviously of off offer offering offerings
  offers officers official often oil old omitted on once one only open opera operating operation operations
  opinion opposed option options or order organization other others our out outline output outside over own
  owners package packaging paper parent parents part parties partners partnership partnerships parts party
  past patent pattern pay peace people perhaps period perspective photo photographs physicians physics
  picture pile pizza place placed plan planning plants players plus point police policies policy pollution
  popular population portable portions positions possible post power practices president presidents pressure
  prevention price prices pricing primary prime principles print printing prints prison procedure produce
  producer producers production products professional profit profits programs progress project promote
  properties property proposal protection protest providing proxy public publishing purchase purpose push
  quality queen quick quickly quiet quit quite race radio raise raised raises raising random rare rate
  rather re reach reached react read reading ready real really reason reasons receives record recording
  records recovery red reduce reduces reducing reference reform register regulation reject rejects related
  release remains report reported reporter reporters reports request requests requirement research reserves
  resistance resolve resorts resource resources responsibility rest resume retail retirement return returns
  revenue review revolution rich ride rights rise risk risks road role room route row rule rules run running
  s safety said salary sale sales salt satellite save savings say saying says scheme school schools science
  scientific scientists scores screen sea search seat second secret security see seek seeking seemingly seen
  sell semantics sending series service services set sets settlement settlements several share shares she
  sheet ship shop shopping shops short should show showed shows side sides sign signal signature signs
  silent since singer singing site situation six sleep slightly small smart snake social society soft
  software sold some somebody something somewhere song sound soup sources space speaker special split sports
  spring spy square standard standards star stars start starts state states statistics stay steps stock
  stone stop store stores storm story straight strategies strategy street strong struggle student students
  studies study stuff subject sugar suit summary summer sun supply support sure survey survive swap sweet
  switch symbol system systems table take taken takes talk talking target tasks tax taxes teachers teamwork
  tech technical techniques technologies technology television tell tells tennis terminated test tests than
  that the theater their theme then theories there these they thing third this those thousands three tickets
  tied time times to today told too tool tools top topic total touch tourism toward town toy toys track
  trade trading training transport transportation travel travelers treaty tree trends trial trip trouble
  trust twice two types uncle under understanding unemployment unified union unit units universal university
  until up upgrade upper urban use used useless users usual usually utilities utility value van variations
  vehicles veterans vice victims video view views violence visit vocal volume voting wages wall want war
  warranty wars was watch water way ways we weak week well what whatever wheel when where while white who
  whose why wider wild will windows wine winning wins winter wire with woman women wood word work worker
  workers works world worldwide worth would write wrong wrote year years yield you young z
`);

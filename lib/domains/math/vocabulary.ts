/** The words of the answer grammar. Tables only. */
import type { Token } from "./token.ts";

const commands: Record<string, Token> = {};
const add = (kind: string, spellings: string, text?: string) => {
  for (const s of spellings.split(" ")) commands[s] = { kind, text: text ?? s.replace(/^\\/, "") };
};

add("skip", "\\, \\thinspace \\: \\medspace \\; \\thickspace \\quad \\qquad \\! \\negthinspace");
add("skip", "\\negmedspace \\negthickspace \\$ \\limits \\nolimits");
add("*", "\\times \\cdot \\ast \\star");
add("/", "\\div \\over");
add("mod", "\\mod \\bmod");
add("(", "\\( \\lgroup", "(");
add(")", "\\) \\rgroup", ")");
add("[", "\\lbrack", "[");
add("]", "\\rbrack", "]");
add("{set", "\\{ \\lbrace", "{");
add("}set", "\\} \\rbrace", "}");
add("|", "\\vert");
add("lvert", "\\lvert");
add("rvert", "\\rvert");
add("norm", "\\| \\Vert \\lVert \\rVert");
add("langle", "\\langle");
add("rangle", "\\rangle");
add("lfloor", "\\lfloor \\llcorner");
add("rfloor", "\\rfloor \\lrcorner");
add("lceil", "\\lceil \\ulcorner");
add("rceil", "\\rceil \\urcorner");
add(
  "function",
  "\\log \\ln \\exp \\sin \\cos \\tan \\csc \\sec \\cot \\arcsin \\arccos \\arctan \\arccsc \\arcsec",
);
add("function", "\\arccot \\sinh \\cosh \\tanh \\arsinh \\arcosh \\artanh \\arcsinh \\arccosh \\arctanh");
add("function", "\\floor \\ceil \\det");
add("many", "\\gcd \\lcm \\max \\min");
add("sqrt", "\\sqrt");
add("frac", "\\frac \\dfrac \\tfrac \\cfrac");
add("binom", "\\binom \\tbinom \\dbinom");
add("choose", "\\choose");
add("integral", "\\int");
add("series", "\\sum", "sum");
add("series", "\\prod", "product");
add("limit", "\\lim");
add("to", "\\to \\rightarrow \\Rightarrow \\longrightarrow \\Longrightarrow");
add("=", "\\equiv");
add("approx", "\\approx");
add("<", "\\lt");
add(">", "\\gt");
add("<=", "\\leq \\le \\leqslant");
add(">=", "\\geq \\ge \\geqslant");
add("!=", "\\ne \\neq \\not\\equiv");
add("in", "\\in");
add("notin", "\\notin");
add("cup", "\\cup");
add("cap", "\\cap");
add("minus", "\\setminus");
add("lor", "\\lor");
add("land", "\\land");
add("pm", "\\pm");
add("mp", "\\mp");
add("subset", "\\subseteq");
add("supset", "\\supseteq");
add("domain", "\\emptyset", "empty");
for (const name of "NZQRCP") add("domain", `\\mathbb{${name}}`, name);
add("infinity", "\\infty");
add("row", "\\\\");
add("group", "\\boxed \\phantom");
add("e", "\\exponentialE");
add("partial", "\\partial");
add(
  "symbol",
  "\\alpha \\beta \\gamma \\Gamma \\delta \\Delta \\epsilon \\varepsilon \\zeta \\eta \\theta \\Theta",
);
add(
  "symbol",
  "\\vartheta \\iota \\kappa \\lambda \\Lambda \\mu \\nu \\xi \\Xi \\omicron \\pi \\Pi \\varpi \\rho",
);
add(
  "symbol",
  "\\varrho \\sigma \\Sigma \\varsigma \\tau \\upsilon \\Upsilon \\phi \\Phi \\varphi \\chi \\psi",
);
add(
  "symbol",
  "\\Psi \\omega \\Omega \\Bbbk \\wp \\nabla \\bigstar \\angle \\nexists \\diagdown \\measuredangle",
);
add("symbol", "\\eth \\diagup \\sphericalangle \\clubsuit \\varnothing \\Diamond \\complement \\diamondsuit");
add("symbol", "\\imath \\Finv \\triangledown \\heartsuit \\jmath \\Game \\triangle \\spadesuit \\ell \\hbar");
add("symbol", "\\vartriangle \\hslash \\blacklozenge \\lozenge \\blacksquare \\mho \\blacktriangle \\sharp");
add("symbol", "\\prime \\Im \\flat \\square \\backprime \\Re \\natural \\surd \\circledS");
add(
  "accent",
  "\\acute \\bar \\overline \\breve \\check \\widecheck \\dot \\ddot \\grave \\hat \\tilde \\widetilde",
);
add(
  "accent",
  "\\vec \\overrightarrow \\bm \\boldsymbol \\text \\textit \\textbf \\textnormal \\mathbb \\mathbin",
);
add("accent", "\\mathbf \\mathcal \\mathfrak \\mathit \\mathnormal \\mathop \\mathord \\mathring \\mathrm");
add("accent", "\\mathscr \\mathsf \\mathtt \\mbox");

/** LaTeX spelling -> token; the lexer matches the longest one, so `\sinx` is `\sin` and `x`. */
export const COMMANDS: ReadonlyMap<string, Token> = new Map(Object.entries(commands));
export const LONGEST_COMMAND = Math.max(...Object.keys(commands).map((s) => s.length));

const unicode: Record<string, Token> = {};
const sign = (kind: string, characters: string, text: string = kind) => {
  for (const c of characters) unicode[c] = { kind, text };
};
sign("+", "∔⊕⊞");
sign("-", "−∸");
sign("*", "×⋅⋄⊡∗⋆∘∙⊗⊠⋈⋉⋊·");
sign("/", "÷∕");
sign("approx", "≈≊≋≃≅");
sign("=", "≡≣≟≎≏≐≑≒≓≔≕≖≗");
sign("<", "≪≺⋖");
sign("<=", "≤≦≲≾");
sign(">", "≫≻⋗");
sign(">=", "≥≧≳≿");
sign("!=", "≠≁≄≇≉≢");
sign("in", "∈");
sign("notin", "∉");
sign("cup", "∪");
sign("cap", "∩");
sign("minus", "∖");
sign("pm", "±");
sign("mp", "∓");
sign("domain", "ℕ", "N");
sign("domain", "ℤ", "Z");
sign("domain", "ℚ", "Q");
sign("domain", "ℝ", "R");
sign("domain", "ℂ", "C");
sign("domain", "ℙ", "P");
sign("domain", "∅", "empty");
sign("subset", "⊆");
sign("supset", "⊇");
const greek = {
  α: "alpha",
  β: "beta",
  γ: "gamma",
  Γ: "Gamma",
  δ: "delta",
  Δ: "Delta",
  ε: "epsilon",
  ζ: "zeta",
};
const moreGreek = {
  η: "eta",
  θ: "theta",
  Θ: "Theta",
  ι: "iota",
  κ: "kappa",
  λ: "lambda",
  Λ: "Lambda",
  μ: "mu",
};
const lastGreek = {
  ν: "nu",
  ξ: "xi",
  π: "pi",
  ρ: "rho",
  σ: "sigma",
  Σ: "Sigma",
  τ: "tau",
  φ: "phi",
  χ: "chi",
};
const tailGreek = { Φ: "Phi", ψ: "psi", Ψ: "Psi", ω: "omega", Ω: "Omega", ϕ: "varphi", ϵ: "varepsilon" };
for (const [c, name] of Object.entries({ ...greek, ...moreGreek, ...lastGreek, ...tailGreek })) {
  sign("symbol", c, name);
}

/** Single characters outside ASCII. */
export const UNICODE: ReadonlyMap<string, Token> = new Map(Object.entries(unicode));

/** Bare words that name matrix functions; a word that contains one is not read as a product of letters. */
export const RESERVED_WORDS: readonly string[] = (
  "orthogonalize eigenvectors eigenvalues diagonalize orthogonal eigenvects nullspace eigenvals arcsinh arccosh " +
  "arctanh pmatrix bmatrix vmatrix arsinh arcosh artanh hstack vstack matrix floor zeros trace ortho eigen array " +
  "ceil ones cols rows diag norm rank rref orth gcd lcm eye eig svd SVD tr"
).split(" ");

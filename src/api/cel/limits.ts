/** Thread: any. What expressions may cost, in the units that Kubernetes counts in, and how large they may be. */

/** What one evaluation of one expression may cost; about a tenth of a second of kube-apiserver. */
export const PER_CALL_LIMIT = 1_000_000
/** What all expressions may cost together, of one custom resource, or of one binding of a policy. */
export const RUNTIME_COST_BUDGET = 10_000_000
/** What all match conditions of one webhook or one binding may cost together. */
export const MATCH_CONDITIONS_COST_BUDGET = 2_500_000
/** The largest request that costs are estimated for, in bytes; no flag changes it. */
export const MAX_REQUEST_SIZE = 3 * 1024 * 1024
/** The longest message that a messageExpression may make, in bytes. */
export const MAX_MESSAGE_SIZE = 5 * 1024
/** The longest expression, in code points. */
export const MAX_EXPRESSION_LENGTH = 100_000
/** How deep an expression may nest. */
export const MAX_RECURSION = 250
/** How many parts an expression may have once its macros are expanded; some of them copy what they are called on. */
export const MAX_NODES = 200_000
/** Steps of work that costs do not count (entries compared, parts copied) in one evaluation; some tenths of a second. */
export const MAX_STEPS = 10_000_000
/** The longest list that `+` makes: walking over a longer one costs more than an evaluation may. */
export const MAX_LIST_SIZE = 1_000_000
/** The same of all evaluations that share a budget: their work counts, though Kubernetes gives it no cost. */
export const MAX_SHARED_STEPS = 10_000_000

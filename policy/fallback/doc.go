// Package fallback keeps jobs scheduled when a policy fails. A late plan, an error, a panic, and a plan
// that policy.Check refuses are failures; jobs then keep their GPUs. After several failures in a row, a
// simple queue plans until the policy recovers.
package fallback

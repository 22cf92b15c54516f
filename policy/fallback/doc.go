// Package fallback keeps a cluster scheduled when its policy fails. It wraps a policy. A late plan, an error,
// a panic and a plan that policy.Check refuses are failures: the last plan stays. After several failures in a
// row a simple queue plans until the policy recovers.
package fallback

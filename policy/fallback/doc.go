// Package fallback keeps a cluster scheduled when its policy fails. It wraps a policy. A failure is a late plan, an
// error, a panic, or a plan that policy.Check refuses; jobs then keep what the last plan gave them. After several
// failures in a row, a simple queue plans until the policy recovers.
package fallback

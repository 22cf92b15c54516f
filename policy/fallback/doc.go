// Package fallback keeps a cluster scheduled when its policy fails. It wraps a policy: a
// plan that comes late, an error, a panic and a plan that policy.Check refuses are failures,
// after which the last plan stays, and after some in a row the simplest policy, a queue,
// plans until the wrapped one does again.
package fallback

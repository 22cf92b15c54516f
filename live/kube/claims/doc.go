// Package claims says who the pod is that speaks to the agent API, and what its words are
// worth.
//
// A worker's bearer token is a projected service-account token of the audience of the agent
// API, bound to its pod. The API server says whose it is (authentication.k8s.io/v1 TokenReview),
// and is asked seldom: a token is first read without its signature, and one that has ended,
// is for others, or names a pod that is no living member of a job here is refused on the
// spot; answers are kept, by the SHA-256 of the token, and tokens are not; equal questions
// are asked once; and each source of questions, and all together, have a rate.
//
// The API server accepts a token for up to a minute after its pod is gone. So the pod is
// looked up in the scheduler's own view at every message, also where an answer was kept.
// Two tokens of one pod, as rotation makes them, are one job's.
//
// A user's own token, a service account's that is bound to no pod, and one for the API
// server itself are refused.
package claims

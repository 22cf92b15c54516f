// Package claims identifies the pod that sends a message to the agent API, and checks what it may
// say.
//
// A worker's bearer token is a projected service-account token for the audience of the agent
// API, bound to its pod. The API server says whose token it is (authentication.k8s.io/v1
// TokenReview). Four measures keep the number of these requests low:
//
//   - A token is first read without checking its signature. It is refused at once if it has
//     expired, is for another audience, or names a pod that is no living member of a job here.
//   - Answers are kept by the SHA-256 of the token; tokens are not kept.
//   - Equal requests at the same time are sent once.
//   - Requests are limited in rate, for each source address and in total.
//
// The API server accepts a token for up to a minute after its pod is gone. So the pod is
// looked up in the scheduler's own state at every message, even if an answer was kept.
// Rotation gives a pod new tokens; all of them identify the same job.
//
// A pod speaks for the job to which its controllers lead, in its own namespace; namespace, name and
// service account of the token have to be those of that pod.
//
// A user's own token, a service account's that is bound to no pod, and one for the API
// server itself are refused.
package claims

// Package claims identifies the pod that sends a message to the agent API. It also reads the progress that Kubeflow
// Trainer reports.
//
// A worker's bearer token is a projected service-account token for the audience of the agent API, bound to its pod.
// The API server verifies it with a TokenReview. The pod must be a live member of a job here: the owner chain of the
// pod in its namespace determines the job, and name and service account must match. Tokens of users, unbound tokens
// and tokens for the API server are rejected.
//
// Four measures limit the number of TokenReviews:
//
//   - The unverified content of a token is checked first: its audience, expiry and pod.
//   - Results are cached by the SHA-256 of the token; tokens are not stored.
//   - Equal concurrent requests are combined.
//   - Requests are limited in rate, per source address and in total.
//
// The API server accepts a token for up to a minute after its pod was deleted. So the pod is looked up in the
// scheduler's state for every message, even with a cached result.
package claims

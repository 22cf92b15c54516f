// Package claims identifies the pod that sends a message to the agent API. It also reads the progress that
// Kubeflow Trainer reports.
//
// A worker's bearer token is a projected service-account token for the agent API, bound to its pod. The API server
// verifies it with a TokenReview. The pod must be a live member of a job here, with the same name and service
// account. This is checked for every message, because the API server accepts a token for up to a minute after its
// pod was deleted.
//
// To limit TokenReviews, the unverified content of a token is checked first, results are cached by the SHA-256 of
// the token, and requests are combined and limited in rate.
package claims

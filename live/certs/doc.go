// Package certs makes the certificate with which the agent API is served over a cluster's network,
// and replaces it before it expires.
//
// It is signed by authorities of our own, which exist only in the memory of the process. Workers
// trust the authorities' certificates, which the caller publishes where workers read them.
// Rotation overlaps: a new authority is published for the time Overlap before anything is signed
// by it, so that no worker gets a certificate that it cannot check. An old authority is
// published until it expires, which is after everything that it has signed.
package certs

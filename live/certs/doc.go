// Package certs makes and renews the certificate of the agent API in a cluster's network.
//
// Authorities exist only in memory; the caller publishes their certificates for workers. A new authority is
// published for Options.Overlap before it signs, so that workers always know it. An old one is published until it
// expires, after everything that it has signed.
package certs

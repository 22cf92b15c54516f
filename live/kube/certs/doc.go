// Package certs makes the certificate with which the agent API is served inside a cluster,
// and changes it in time.
//
// The authorities that sign it are our own and few, and in the memory of the process. Workers
// trust the authorities' certificates, which the caller publishes where pods mount them.
// Rotation has an overlap: a new authority is published for Overlap before anything is signed
// by it, so that no worker meets a certificate that it cannot check, and an old one is
// published until it ends, after all that it signed.
//
// Who has certificates of their own gives files: NewFiles.
package certs

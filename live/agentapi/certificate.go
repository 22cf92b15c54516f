package agentapi

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"sync"
	"time"
)

// A Certificate is the TLS certificate of the agent API, renewed before it expires. Call Renew first, and regularly.
//
// Authorities exist only in memory; the caller publishes their certificates for workers. A new authority is published
// for CertificateOptions.Overlap before it signs, so that all workers trust it by then. An old one is published until
// it expires, after everything that it has signed.
type Certificate struct {
	o CertificateOptions

	mu   sync.Mutex
	all  *Authorities // nil before the first Renew
	leaf *tls.Certificate
	by   string // serial number of the signer
}

// NewCertificate returns a Certificate without content, or the error of o.Validate.
func NewCertificate(o CertificateOptions) (*Certificate, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	return &Certificate{o: o.complete()}, nil
}

// Renew updates the authorities and the certificate if necessary, and returns when to call it next. On an error the old
// ones stay in use.
func (s *Certificate) Renew() (time.Time, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	all, err := s.all.Renew(now, s.o)
	if err != nil {
		return time.Time{}, fmt.Errorf("renew authorities: %w", err)
	}
	s.all = all
	by := all.signer(now, &s.o).cert.SerialNumber.String()
	if s.leaf == nil || by != s.by || !now.Before(due(s.leaf.Leaf.NotBefore.Add(skew), s.leaf.Leaf.NotAfter)) {
		leaf, err := all.Issue(now, s.o)
		if err != nil {
			return time.Time{}, err
		}
		s.leaf, s.by = leaf, by
	}
	return s.again(now), nil
}

// Trusted returns the certificates that workers should trust, as PEM, or nil before the first Renew.
func (s *Certificate) Trusted() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		return nil
	}
	return s.all.trusted()
}

func (s *Certificate) again(now time.Time) time.Time {
	next := due(s.leaf.Leaf.NotBefore.Add(skew), s.leaf.Leaf.NotAfter)
	if signs := s.all.all[len(s.all.all)-1].made().Add(s.o.Overlap); signs.After(now) && signs.Before(next) {
		return signs
	}
	return next
}

const renewRetry = 10 * time.Second

// Run renews the certificate until ctx ends. It passes errors to failed.
func (s *Certificate) Run(ctx context.Context, failed func(error)) {
	KeepRenewed(ctx, time.Time{}, s.Renew, failed)
}

// KeepRenewed calls renew at time next, and then at each time that renew returned, until ctx ends. After an error,
// which it passes to failed, it calls renew again in 10 s.
func KeepRenewed(ctx context.Context, next time.Time, renew func() (time.Time, error), failed func(error)) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Until(next)):
		}
		var err error
		if next, err = renew(); err != nil {
			failed(err)
			next = time.Now().Add(renewRetry)
		}
	}
}

// GetCertificate returns the current certificate; set it in a tls.Config.
func (s *Certificate) GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.leaf == nil {
		return nil, errors.New("certificate: none yet")
	}
	return s.leaf, nil
}

// TLSConfig returns a TLS configuration that requires version 1.3, which all workers support. get returns the server's
// certificate.
func TLSConfig(get func(*tls.ClientHelloInfo) (*tls.Certificate, error)) *tls.Config {
	return &tls.Config{GetCertificate: get, MinVersion: tls.VersionTLS13}
}

// mostTrusted is how many certificate authorities of earlier processes stay trusted.
const mostTrusted = 8

// Trust returns the certificates that workers should trust, as PEM: mine, and the still valid ones in earlier, which an
// earlier process published.
func Trust(mine, earlier string, now time.Time) string {
	b := bytes.NewBufferString(mine)
	rest, n := []byte(earlier), 0
	for n < mostTrusted {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		c, err := x509.ParseCertificate(block.Bytes)
		one := pem.EncodeToMemory(block)
		if err != nil || now.After(c.NotAfter) || bytes.Contains([]byte(mine), one) {
			continue
		}
		b.Write(one)
		n++
	}
	return b.String()
}

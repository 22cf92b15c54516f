package agentapi

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"time"
)

// CertificateOptions state how long certificates are valid. A zero duration means its default.
type CertificateOptions struct {
	Names     []string      // host names of the server, at least one
	Authority time.Duration // validity of an authority, renewed after two thirds; default 1 year
	Leaf      time.Duration // validity of the server's certificate, renewed after two thirds; default 1 day
	// Overlap is how long an authority is published before it signs. It must exceed the time that a mounted
	// ConfigMap takes to change, about two minutes. Default 1 hour.
	Overlap time.Duration
}

func (o CertificateOptions) complete() CertificateOptions {
	for _, d := range []struct {
		v  *time.Duration
		to time.Duration
	}{{&o.Authority, 365 * 24 * time.Hour}, {&o.Leaf, 24 * time.Hour}, {&o.Overlap, time.Hour}} {
		if *d.v == 0 {
			*d.v = d.to
		}
	}
	return o
}

// Validate returns all errors of o.
func (o *CertificateOptions) Validate() error {
	var errs []error
	c := o.complete()
	if len(c.Names) == 0 || slices.Contains(c.Names, "") {
		errs = append(errs, fmt.Errorf("certificate: names %q, want one at least, none empty", c.Names))
	}
	if c.Leaf < 0 || c.Overlap < 0 {
		errs = append(errs, fmt.Errorf("certificate: life %v, overlap %v, want more than 0", c.Leaf, c.Overlap))
	}
	if least := 3 * (c.Leaf + c.Overlap); c.Authority < least { // its last third must outlast all that it signs
		errs = append(errs, fmt.Errorf("certificate: life of an authority %v, want at least %v, three times the life of a certificate plus the overlap", c.Authority, least))
	}
	return errors.Join(errs...)
}

func due(from, to time.Time) time.Time { return from.Add(to.Sub(from) / 3 * 2) }

// skew is the tolerated lag of workers' clocks.
const skew = 5 * time.Minute

type authority struct {
	cert *x509.Certificate
	key  crypto.Signer
}

func (a *authority) made() time.Time { return a.cert.NotBefore.Add(skew) }

// Authorities are the server's certificate authorities, the oldest first. They are immutable.
type Authorities struct{ all []authority }

// Renew returns a copy of the authorities without expired ones, and with a new one if due. a may be nil.
func (a *Authorities) Renew(now time.Time, o CertificateOptions) (*Authorities, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o = o.complete()
	next := &Authorities{}
	if a != nil {
		next.all = slices.DeleteFunc(slices.Clone(a.all), func(x authority) bool { return !now.Before(x.cert.NotAfter) })
	}
	if n := len(next.all); n == 0 || !now.Before(due(next.all[n-1].made(), next.all[n-1].cert.NotAfter)) {
		fresh, err := newAuthority(now, &o)
		if err != nil {
			return nil, err
		}
		next.all = append(next.all, *fresh)
	}
	return next, nil
}

func (a *Authorities) signer(now time.Time, o *CertificateOptions) *authority {
	for i := len(a.all) - 1; i > 0; i-- {
		if !now.Before(a.all[i].made().Add(o.Overlap)) {
			return &a.all[i]
		}
	}
	return &a.all[0]
}

// CertificatesKey is the ConfigMap key of the trusted certificates.
const CertificatesKey = "ca.crt"

func (a *Authorities) trusted() []byte {
	var b bytes.Buffer
	for _, x := range a.all {
		b.Write(encode("CERTIFICATE", x.cert.Raw))
	}
	return b.Bytes()
}

// Issue returns a new certificate for the server. It expires no later than the authority that signed it.
func (a *Authorities) Issue(now time.Time, o CertificateOptions) (*tls.Certificate, error) {
	if a == nil || len(a.all) == 0 {
		return nil, errors.New("certificate: no authority to sign it, want one from Renew")
	}
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o = o.complete()
	by := a.signer(now, &o)
	ends := now.Add(o.Leaf)
	if by.cert.NotAfter.Before(ends) {
		ends = by.cert.NotAfter
	}
	t, key, err := template(now, ends, o.Names[0])
	if err != nil {
		return nil, err
	}
	t.DNSNames = o.Names
	t.KeyUsage, t.ExtKeyUsage = x509.KeyUsageDigitalSignature, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	leaf, err := sign(t, by.cert, key, by.key)
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{leaf.Raw}, PrivateKey: key, Leaf: leaf}, nil
}

func newAuthority(now time.Time, o *CertificateOptions) (*authority, error) {
	t, key, err := template(now, now.Add(o.Authority), "oxgang agents")
	if err != nil {
		return nil, err
	}
	t.IsCA, t.BasicConstraintsValid, t.MaxPathLenZero = true, true, true
	t.KeyUsage = x509.KeyUsageCertSign
	cert, err := sign(t, t, key, key)
	if err != nil {
		return nil, err
	}
	return &authority{cert, key}, nil
}

func template(now, ends time.Time, name string) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("certificate: key: %w", err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, nil, fmt.Errorf("certificate: serial number: %w", err)
	}
	return &x509.Certificate{SerialNumber: serial, Subject: pkix.Name{CommonName: name}, NotBefore: now.Add(-skew), NotAfter: ends}, key, nil
}

func sign(t, parent *x509.Certificate, key, by crypto.Signer) (*x509.Certificate, error) {
	raw, err := x509.CreateCertificate(rand.Reader, t, parent, key.Public(), by)
	if err != nil {
		return nil, fmt.Errorf("certificate: sign: %w", err)
	}
	return x509.ParseCertificate(raw)
}

func encode(kind string, raw []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: raw})
}

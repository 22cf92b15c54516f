package agentapi

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// published is what workers trust: it reaches them late after it is published.
type published struct {
	late time.Duration
	all  []bundle // oldest first
}

type bundle struct {
	pem []byte
	at  time.Time // from which workers have it
}

// publish publishes what is trusted, if that is news.
func (p *published) publish(pem []byte) {
	if n := len(p.all); n == 0 || !bytes.Equal(p.all[n-1].pem, pem) {
		p.all = append(p.all, bundle{pem, time.Now().Add(p.late)})
	}
}

// pool returns what workers trust now.
func (p *published) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	for i, b := range slices.Backward(p.all) {
		if i == 0 || !time.Now().Before(b.at) {
			pool.AppendCertsFromPEM(b.pem)
			break
		}
	}
	return pool
}

// refused counts how often, over two lives of an authority, a worker would refuse the server;
// a worker has what is published two minutes late.
func refused(t *testing.T, o CertificateOptions) (refusals, wrote int) {
	synctest.Test(t, func(t *testing.T) {
		s, err := NewCertificate(o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Renew(); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		go s.Run(ctx, func(err error) { t.Error(err) })
		p := published{late: 2 * time.Minute}
		for end := time.Now().Add(2 * o.Authority); time.Now().Before(end); time.Sleep(time.Minute) {
			synctest.Wait()
			p.publish(s.Trusted())
			c, err := s.GetCertificate(nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Leaf.Verify(x509.VerifyOptions{Roots: p.pool(), DNSName: o.Names[0], CurrentTime: time.Now()}); err != nil {
				refusals++
			}
		}
		wrote = len(p.all)
		cancel()
		synctest.Wait()
	})
	return refusals, wrote
}

var brief = CertificateOptions{Names: []string{"agents.oxgang.svc"}, Authority: 4 * time.Hour, Leaf: 20 * time.Minute, Overlap: 10 * time.Minute}

func TestRotation_is_never_noticed(t *testing.T) {
	if n, wrote := refused(t, brief); n != 0 || wrote < 4 {
		t.Errorf("%d refusals, %d changes of authorities, want 0 and at least 4", n, wrote)
	}
}

// The check above sees an overlap that is shorter than what publishing takes.
func TestRotation_without_overlap_is_noticed(t *testing.T) {
	o := brief
	o.Overlap = time.Second
	if n, _ := refused(t, o); n == 0 {
		t.Error("no refusals: the check cannot fail")
	}
}

// There is nothing before the first Renew, and what there is stays as long as it is good.
func TestServer_keeps_what_it_has(t *testing.T) {
	s, err := NewCertificate(brief)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.GetCertificate(nil); err == nil || s.Trusted() != nil {
		t.Error("a certificate, or an authority, before there is one")
	}
	var had *tls.Certificate
	for i := range 2 {
		if _, err := s.Renew(); err != nil {
			t.Fatal(err)
		}
		has, err := s.GetCertificate(nil)
		if err != nil || i > 0 && has != had {
			t.Errorf("got another certificate, or %v", err)
		}
		had = has
	}
}

func TestCertificateOptions_Validate(t *testing.T) {
	for name, tc := range map[string]struct {
		edit func(*CertificateOptions)
		want string
	}{
		"no names":            {func(o *CertificateOptions) { o.Names = nil }, "names []"},
		"an empty name":       {func(o *CertificateOptions) { o.Names = []string{""} }, `names [""]`},
		"authorities too new": {func(o *CertificateOptions) { o.Authority = time.Hour }, "life of an authority 1h0m0s, want at least 1h30m0s"},
		"negative":            {func(o *CertificateOptions) { o.Overlap = -time.Hour }, "overlap -1h0m0s"},
	} {
		o := brief
		tc.edit(&o)
		if err := o.Validate(); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %s", name, err, tc.want)
		}
	}
	if o := (CertificateOptions{Names: []string{"a"}}); o.Validate() != nil {
		t.Errorf("defaults: %v", o.Validate())
	}
}

// A worker that trusts the authorities is served; one that does not is not.
func TestConfig_serves(t *testing.T) {
	a, err := (*Authorities)(nil).Renew(time.Now(), brief)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := a.Issue(time.Now(), brief)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(a.trusted())
	get := func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return leaf, nil }
	for trusted, roots := range map[bool]*x509.CertPool{true: pool, false: x509.NewCertPool()} {
		if err := shake(TLSConfig(get), &tls.Config{RootCAs: roots, ServerName: brief.Names[0], MinVersion: tls.VersionTLS13}); (err == nil) != trusted {
			t.Errorf("trusted %v: got %v", trusted, err)
		}
	}
}

func shake(server, client *tls.Config) error {
	l, err := tls.Listen("tcp", "127.0.0.1:0", server)
	if err != nil {
		return err
	}
	defer l.Close()
	go func() {
		if c, err := l.Accept(); err == nil {
			_ = c.(*tls.Conn).Handshake() // the client says what is wrong
			_ = c.Close()
		}
	}()
	c, err := tls.Dial("tcp", l.Addr().String(), client)
	if err != nil {
		return err
	}
	return c.Close()
}

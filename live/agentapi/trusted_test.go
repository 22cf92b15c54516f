package agentapi

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"
	"time"
)

func certificate(t *testing.T, until time.Time) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: until.Add(-time.Hour), NotAfter: until}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

func TestTrust(t *testing.T) {
	now := time.Now()
	mine, other, over := certificate(t, now.Add(time.Hour)), certificate(t, now.Add(time.Hour)), certificate(t, now.Add(-time.Minute))
	var many strings.Builder
	for range mostTrusted + 3 {
		many.WriteString(certificate(t, now.Add(time.Hour)))
	}
	garbage := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("x")}))
	for _, c := range []struct {
		name, text, want string
	}{
		{"nothing", "", ""},
		{"another's", other, other},
		{"mine is not said twice", mine + other, other},
		{"one that is over", over + other, other},
		{"what is no certificate", garbage + other + "rubbish", other},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Trust(mine, c.text, now); got != mine+c.want {
				t.Errorf("got %q, want %q", got, mine+c.want)
			}
		})
	}
	if got := strings.TrimPrefix(Trust(mine, many.String(), now), mine); strings.Count(got, "BEGIN") != mostTrusted || !strings.HasPrefix(many.String(), got) {
		t.Errorf("%d certificates, want the first %d", strings.Count(got, "BEGIN"), mostTrusted)
	}
}

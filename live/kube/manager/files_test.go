package manager

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/agentapi"
)

// A certificate in files is the one that is served.
func TestNewFiles(t *testing.T) {
	o := agentapi.CertificateOptions{Names: []string{"agents.test"}}
	a, err := (*agentapi.Authorities)(nil).Renew(time.Now(), o)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := a.Issue(time.Now(), o)
	if err != nil {
		t.Fatal(err)
	}
	cert, key := inFiles(t, leaf)
	f, err := newFiles(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	got, err := f.GetCertificate(nil)
	if err != nil || !bytes.Equal(got.Certificate[0], leaf.Certificate[0]) {
		t.Errorf("another certificate is served, or none: %v", err)
	}
	if _, err := newFiles("none", "none"); err == nil {
		t.Error("files that are not there: want an error")
	}
}

func inFiles(t *testing.T, leaf *tls.Certificate) (cert, key string) {
	t.Helper()
	raw, err := x509.MarshalPKCS8PrivateKey(leaf.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	for name, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: leaf.Certificate[0]}, key: {Type: "PRIVATE KEY", Bytes: raw}} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

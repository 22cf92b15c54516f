package agentapi

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"time"
)

// MostTrusted is how many authorities of earlier processes stay trusted.
const MostTrusted = 8

// Trust returns the certificates that workers should trust, as PEM: mine, and those in earlier that are still valid.
// earlier was published by an earlier process.
func Trust(mine, earlier string, now time.Time) string {
	b := bytes.NewBufferString(mine)
	rest, n := []byte(earlier), 0
	for n < MostTrusted {
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

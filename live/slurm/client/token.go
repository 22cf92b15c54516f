package client

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
)

var coding = base64.RawURLEncoding.Strict()

// NewToken returns a secret token for the program of a user's job: 32 random bytes and the user's name, both in
// base64url, joined by ".".
//
// Only the job's script has the token. The job's public comment has its digest. A token is valid only for jobs of its
// user, so another user gains nothing by copying the digest.
func NewToken(user string) string {
	secret := make([]byte, sha256.Size)
	rand.Read(secret) // it never fails
	return coding.EncodeToString(secret) + "." + coding.EncodeToString([]byte(user))
}

// Digest returns the SHA-256 of a token in base64url.
func Digest(token string) string {
	sum := sha256.Sum256([]byte(token))
	return coding.EncodeToString(sum[:])
}

// CheckDigest returns an error for text that Digest cannot have returned.
func CheckDigest(text string) error {
	if sum, err := coding.DecodeString(text); err != nil || len(sum) != sha256.Size {
		return fmt.Errorf("want %d characters of base64url, the SHA-256 of a token", coding.EncodedLen(sha256.Size))
	}
	return nil
}

// TokenUser returns the user whose name is in the token. ok is false if the text is not a token.
func TokenUser(token string) (user string, ok bool) {
	_, name, ok := strings.Cut(token, ".")
	raw, err := coding.DecodeString(name)
	return string(raw), ok && err == nil && len(raw) > 0
}

package comment

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
)

// coding is that of tokens and digests.
var coding = base64.RawURLEncoding.Strict()

// NewToken returns a token, by which the program of a job under Slurm proves whose it is, for a job that
// a user submits. It is 32 random bytes and the user's name, both in base64url, with "." between them.
// Only the job's script has it. The job's comment, which everybody can read, has its digest. A token is
// good for a job of its own user alone: whoever copies somebody else's digest into the comment of a job
// gets no messages by that, and keeps none from arriving.
func NewToken(user string) string {
	secret := make([]byte, sha256.Size)
	rand.Read(secret) // it never fails
	return coding.EncodeToString(secret) + "." + coding.EncodeToString([]byte(user))
}

// Digest returns the SHA-256 of a token's text, in base64url.
func Digest(token string) string {
	sum := sha256.Sum256([]byte(token))
	return coding.EncodeToString(sum[:])
}

// CheckDigest returns an error for a text that Digest cannot have returned.
func CheckDigest(text string) error {
	if sum, err := coding.DecodeString(text); err != nil || len(sum) != sha256.Size {
		return fmt.Errorf("want %d characters of base64url, the SHA-256 of a token", coding.EncodedLen(sha256.Size))
	}
	return nil
}

// TokenUser returns the user that a token names; ok is false for a text that is no token.
func TokenUser(token string) (user string, ok bool) {
	_, name, ok := strings.Cut(token, ".")
	raw, err := coding.DecodeString(name)
	return string(raw), ok && err == nil && len(raw) > 0
}

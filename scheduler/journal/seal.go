package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
)

// A seal is the last key of a line: ,"h":"0123abcd". It has the first digits of the SHA-256 of the journal up
// to the comma of the seal.
const (
	sealKey    = `,"h":"`
	sealDigits = 8
	sealLength = len(sealKey) + sealDigits + len(`"`)
)

// ErrChanged is returned for a line that was changed, or that follows a line that was lost, doubled or moved. All
// earlier lines are intact.
var ErrChanged = errors.New("the journal was changed after it was written")

// Unverified is the warning printed for journals of format version 1: they have no hashes, so changes are not detected.
const Unverified = "The journal has format 1, without hashes: changed or lost lines are not detected."

type chain struct {
	h   hash.Hash
	sum [sha256.Size]byte
	hex [sealDigits]byte
}

func newChain() chain { return chain{h: sha256.New()} }

func (c *chain) digits(text []byte) []byte {
	c.h.Write(text)
	hex.Encode(c.hex[:], c.h.Sum(c.sum[:0])[:sealDigits/2])
	return c.hex[:]
}

func (c *chain) state() ([]byte, error) {
	text, err := c.h.(encoding.BinaryMarshaler).MarshalBinary()
	return base64.StdEncoding.AppendEncode(nil, text), err
}

func (c *chain) resume(state []byte) error {
	text, err := base64.StdEncoding.AppendDecode(nil, state)
	if err != nil {
		return err
	}
	return c.h.(encoding.BinaryUnmarshaler).UnmarshalBinary(text)
}

func (c *chain) seal(line []byte) []byte {
	cut := len(line) - len(`}`)
	digits := c.digits(line[:cut])
	line = append(line[:cut], sealKey...)
	line = append(line, digits...)
	line = append(line, "\"}\n"...)
	c.h.Write(line[cut:])
	return line
}

func unsealed(line []byte) []byte {
	cut := len(line) - sealLength - len(`}`)
	if cut < 1 {
		return line
	}
	return append(bytes.Clone(line[:cut]), '}')
}

func (c *chain) open(line []byte) ([]byte, error) {
	cut := len(line) - sealLength - len(`}`)
	if cut < 1 || string(line[cut:cut+len(sealKey)]) != sealKey || string(line[len(line)-2:]) != `"}` {
		return nil, fmt.Errorf("%w: no hash at the end of this line", ErrChanged)
	}
	got := line[cut+len(sealKey) : len(line)-2]
	if want := c.digits(line[:cut]); string(got) != string(want) {
		return nil, fmt.Errorf("%w: this line was changed, or one before it was lost, doubled or moved (got hash %q, want %q)", ErrChanged, got, want)
	}
	c.h.Write(line[cut:])
	c.h.Write([]byte{'\n'})
	line[cut] = '}'
	return line[:cut+1], nil
}

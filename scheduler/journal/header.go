package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
)

// version is the version of the journal format that this package writes. It can also read version 1, whose lines
// have no hashes and which has no end line.
const version = 2

// A Header describes the run of a journal: its policy, settings, cluster and start.
type Header struct {
	Tool     string // program that wrote the journal, with its version
	Policy   string
	Settings []Setting // settings of the policy, in display order
	Seed     uint64
	Start    time.Time // time 0 of the records; UTC when read
	Round    time.Duration
	// Cluster has the nodes at the start and, with tenure Rented, the nodes that can be rented.
	Cluster *cluster.Cluster
	// From is 0, except in a later part of a journal in several files: there it is the offset of the byte after this
	// line in the whole journal.
	From int64
}

// A Setting is one option of the run's policy.
type Setting struct{ Name, Value string }

type headerLine struct {
	Version  int         `json:"oxj"`
	Tool     string      `json:"tool"`
	Policy   string      `json:"policy"`
	Settings [][2]string `json:"settings"`
	Seed     uint64      `json:"seed"`
	Start    time.Time   `json:"start"`
	Round    Seconds     `json:"round"`
	Nodes    []nodeLine  `json:"nodes"`
	From     int64       `json:"from,omitzero"`
}

func (h *Header) validate() error {
	var errs []error
	if h.Start.IsZero() {
		errs = append(errs, errors.New("no start time"))
	}
	if h.Round <= 0 {
		errs = append(errs, fmt.Errorf("round length is %v, want more than 0", h.Round))
	}
	if h.Cluster == nil {
		errs = append(errs, errors.New("no cluster"))
	}
	if h.From < 0 {
		errs = append(errs, fmt.Errorf("part from byte %d, want at least 0", h.From))
	}
	return errors.Join(errs...)
}

func (h *Header) line() headerLine {
	settings := make([][2]string, len(h.Settings))
	for i, s := range h.Settings {
		settings[i] = [2]string{s.Name, s.Value}
	}
	return headerLine{version, h.Tool, h.Policy, settings, h.Seed, h.Start.UTC(), Seconds(h.Round), nodeLines(h.Cluster), h.From}
}

func parseVersion(text []byte) (int, error) {
	var header struct {
		Version *int `json:"oxj"`
	}
	if err := json.Unmarshal(text, &header); err != nil {
		return 0, fmt.Errorf("got %.40q, want a journal's header: %w", text, err)
	}
	if header.Version == nil {
		return 0, fmt.Errorf("got %.40q, want a journal's header with key %q", text, "oxj")
	}
	if v := *header.Version; v < 1 || v > version {
		return 0, fmt.Errorf("format version %d, want 1 or %d", v, version)
	}
	return *header.Version, nil
}

func parseHeader(text []byte) (Header, error) {
	var l headerLine
	if err := unmarshal(text, &l); err != nil {
		return Header{}, fmt.Errorf("header: %w", err)
	}
	nodes, err := makeCluster(l.Nodes)
	if err != nil {
		return Header{}, fmt.Errorf("header: %w", err)
	}
	h := Header{Tool: l.Tool, Policy: l.Policy, Seed: l.Seed, Start: l.Start.UTC(), Round: time.Duration(l.Round), Cluster: nodes, From: l.From}
	for _, s := range l.Settings {
		h.Settings = append(h.Settings, Setting{s[0], s[1]})
	}
	if err := h.validate(); err != nil {
		return Header{}, fmt.Errorf("header: %w", err)
	}
	return h, nil
}

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

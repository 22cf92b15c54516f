package parse

import (
	"bufio"
	"compress/gzip"
	"io"
)

// HeadBytes is how much of an input trace.Format.Sniff gets.
const HeadBytes = 1 << 16

// Unpacked returns a reader of what is in r, which may be packed with gzip.
func Unpacked(r io.Reader, o Options) (*bufio.Reader, error) {
	b := bufio.NewReaderSize(r, HeadBytes)
	if magic, _ := b.Peek(2); string(magic) != "\x1f\x8b" { // a read error comes again
		return b, nil
	}
	z, err := gzip.NewReader(b)
	if err != nil {
		return nil, ReadError(o, 0, err)
	}
	return bufio.NewReaderSize(z, HeadBytes), nil
}

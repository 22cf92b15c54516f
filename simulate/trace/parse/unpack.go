package parse

import (
	"bufio"
	"compress/gzip"
	"io"
)

// HeadBytes is how much of a file is read to recognise its format.
const HeadBytes = 1 << 16

// Unpacked returns a reader of r, unpacked if it is gzipped.
func Unpacked(r io.Reader, o Options) (*bufio.Reader, error) {
	b := bufio.NewReaderSize(r, HeadBytes)
	if magic, _ := b.Peek(2); string(magic) != "\x1f\x8b" { // a read error occurs again later
		return b, nil
	}
	z, err := gzip.NewReader(b)
	if err != nil {
		return nil, ReadError(o, 0, err)
	}
	return bufio.NewReaderSize(z, HeadBytes), nil
}

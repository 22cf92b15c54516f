package trace

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

var byteOrderMark = []byte("\uFEFF")

// lines cuts an input into lines without their ends (\n or \r\n), dropping a
// byte order mark. It never holds more than the longest line allowed.
type lines struct {
	r       *bufio.Reader
	o       Options
	number  int    // of the line last returned, 1-based
	rest    bool   // the rest of a line that was too long is still to be read
	long    []byte // a line that does not fit the reader's buffer
	started bool
}

// newLines returns the lines of r.
func newLines(r io.Reader, o Options) *lines {
	return &lines{r: bufio.NewReaderSize(r, 1<<16), o: o}
}

// next returns the next line, valid until the call after it, or io.EOF. After
// the error for a line that is too long it goes on with the line after; after
// any other error it cannot go on.
func (l *lines) next() ([]byte, error) {
	if l.rest {
		if err := l.discard(); err != nil {
			return nil, err
		}
	}
	line, err := l.read()
	switch {
	case errors.Is(err, io.EOF) && len(line) == 0:
		return nil, io.EOF
	case err != nil && !errors.Is(err, io.EOF):
		return nil, err
	}
	if !l.started {
		line = bytes.TrimPrefix(line, byteOrderMark)
		l.started = true
	}
	line = bytes.TrimSuffix(line, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r")), nil
}

// read returns the next line with its end.
func (l *lines) read() ([]byte, error) {
	l.number++
	l.long = l.long[:0]
	for {
		part, err := l.r.ReadSlice('\n')
		if len(l.long)+len(part) > l.o.MaxLine+len("\r\n") {
			l.rest = !bytes.HasSuffix(part, []byte("\n"))
			return nil, l.tooLong()
		}
		switch {
		case err == nil && len(l.long) == 0:
			return part, nil
		case errors.Is(err, bufio.ErrBufferFull):
			l.long = append(l.long, part...)
			continue
		case err != nil && !errors.Is(err, io.EOF):
			return nil, readError(l.o, l.number, err)
		}
		return append(l.long, part...), err
	}
}

// discard reads up to the end of a line that was too long.
func (l *lines) discard() error {
	for {
		_, err := l.r.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && !errors.Is(err, io.EOF):
			return readError(l.o, l.number, err)
		}
		l.rest = false
		return err
	}
}

// errTooLong marks the errors after which reading can go on.
var errTooLong = errors.New("line too long")

// tooLong returns the error for the current line.
func (l *lines) tooLong() error {
	return &Error{
		File: l.o.File, Line: l.number, Err: errTooLong,
		Problem: fmt.Sprintf("line too long, want at most %d bytes", l.o.MaxLine),
	}
}

// readError places an error of the underlying reader.
func readError(o Options, line int, err error) error {
	problem := "read: " + err.Error()
	if errors.Is(err, io.ErrUnexpectedEOF) {
		problem = "truncated: " + err.Error()
	}
	return &Error{File: o.File, Line: line, Problem: problem, Err: err}
}

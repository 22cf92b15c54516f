package parse

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// ByteOrderMark is the Unicode mark with which a text file may begin.
var ByteOrderMark = []byte("\uFEFF")

// Lines splits an input into lines, without line ends and byte order mark.
type Lines struct {
	r       *bufio.Reader
	o       Options
	Number  int  // number of the last line, from 1
	rest    bool // the rest of a too long line is not read yet
	long    []byte
	started bool
}

// NewLines returns a Lines that reads from r.
func NewLines(r io.Reader, o Options) *Lines {
	return &Lines{r: bufio.NewReaderSize(r, 1<<16), o: o}
}

// Next returns the next line, valid until the next call, or io.EOF. It can be called again after ErrTooLong, but
// not after other errors.
func (l *Lines) Next() ([]byte, error) {
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
		line = bytes.TrimPrefix(line, ByteOrderMark)
		l.started = true
	}
	line = bytes.TrimSuffix(line, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r")), nil
}

func (l *Lines) read() ([]byte, error) {
	l.Number++
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
			return nil, ReadError(l.o, l.Number, err)
		}
		return append(l.long, part...), err
	}
}

func (l *Lines) discard() error {
	for {
		_, err := l.r.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && !errors.Is(err, io.EOF):
			return ReadError(l.o, l.Number, err)
		}
		l.rest = false
		return err
	}
}

// Each calls use for each following line that is not empty, until use returns false. A line that is too long is a bad
// row of f.
func (l *Lines) Each(f *Feed, use func(line string) bool) (ended bool) {
	for {
		line, err := l.Next()
		switch {
		case errors.Is(err, io.EOF):
			return true
		case errors.Is(err, ErrTooLong):
			f.O.Summary.Rows++
			if !f.Reject(err) {
				return false
			}
		case err != nil:
			f.Fail(err)
			return false
		case len(line) > 0 && !use(string(line)):
			return false
		}
	}
}

// ErrTooLong is returned for a line that is longer than allowed. Reading can continue with the next line.
var ErrTooLong = errors.New("line too long")

func (l *Lines) tooLong() error {
	return &Error{
		File: l.o.File, Line: l.Number, Err: ErrTooLong,
		Problem: fmt.Sprintf("line too long, want at most %d bytes", l.o.MaxLine),
	}
}

// ReadError adds file and line to an error of the underlying reader.
func ReadError(o Options, line int, err error) error {
	problem := "read: " + err.Error()
	if errors.Is(err, io.ErrUnexpectedEOF) {
		problem = "truncated: " + err.Error()
	}
	return &Error{File: o.File, Line: line, Problem: problem, Err: err}
}

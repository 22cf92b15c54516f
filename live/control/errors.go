package control

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/internal/strict"
	"github.com/oxgang/oxgang/model/job"
)

// An Error states why a request was refused. Hint states what the user can do.
type Error struct {
	Status  int    `json:"-"` // HTTP status
	Message string `json:"error"`
	Hint    string `json:"hint,omitzero"`
}

func (e *Error) Error() string { return e.Message }

// Refuse returns an Error of status 400, for an impossible request.
func Refuse(format string, args ...any) *Error {
	return &Error{Status: http.StatusBadRequest, Message: fmt.Sprintf(format, args...)}
}

// TooLate returns an Error of status 409, for example for a job that has ended.
func TooLate(format string, args ...any) *Error {
	return &Error{Status: http.StatusConflict, Message: fmt.Sprintf(format, args...)}
}

// Unknown returns an Error of status 404 for an unknown job. Its hint lists similar names, or how to list all jobs.
func Unknown(id job.ID, known []job.ID) *Error {
	e := &Error{Status: http.StatusNotFound, Message: fmt.Sprintf("no job %q", id), Hint: "there are no jobs"}
	names := make([]string, 0, 3)
	for _, k := range printable.Meant(id, known) {
		names = append(names, string(k))
	}
	switch {
	case len(names) > 0:
		e.Hint = fmt.Sprintf("did you mean %s?", strings.Join(names, " or "))
	case len(known) > 0:
		e.Hint = `"oxgang jobs --all" lists all jobs`
	}
	return e
}

func asError(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return &Error{Status: http.StatusRequestEntityTooLarge, Message: fmt.Sprintf("request larger than %d bytes; the environment is usually the largest part", maxBody)}
	}
	return &Error{Status: http.StatusInternalServerError, Message: err.Error()}
}

func decode(r io.Reader, v any) error {
	text, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	switch text = bytes.TrimSpace(text); {
	case len(text) == 0:
		err = errors.New("empty, want a JSON object")
	case text[0] != '{':
		err = errors.New("want a JSON object")
	default:
		err = strict.Decode(text, v)
	}
	if err != nil {
		return Refuse("request: %v", err)
	}
	return nil
}

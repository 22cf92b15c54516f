package parse

import (
	"bytes"
	"errors"
	"slices"
)

// A Field names a part of a job for which Options.Check may reject the job.
type Field uint8

// Fields with a column in most formats.
const (
	Application Field = iota
	GPUs
	GPUTypes
)

var columnsOf = [...][]string{
	Application: {"application", "job_type", "model"},
	GPUTypes:    {"gpu_types", "gpu_spec"},
	GPUs:        {"num_replicas", "gpus", "gpu_num", "num_gpu", "scale_factor", "reqtres", "alloctres", "reqgres", "allocgres"},
}

// A FieldError is an error about one field of a job.
type FieldError struct {
	Field Field
	Err   error
}

func (e *FieldError) Error() string { return e.Err.Error() }

func (e *FieldError) Unwrap() error { return e.Err }

// Blame adds file, line and column to err, an error about a field of the row.
func (r *Row) Blame(err error) *Error {
	column := 0
	if e, ok := errors.AsType[*FieldError](err); ok {
		if i := slices.IndexFunc(columnsOf[e.Field], r.Has); i >= 0 {
			column = r.column[columnsOf[e.Field][i]] + 1
		}
	}
	return &Error{File: r.O.File, Line: r.Line, Column: column, Problem: err.Error(), Err: err}
}

// BlameJSON returns the column, in a JSON line, of the key that caused err, a *FieldError. It returns 0 if the line
// lacks the key.
func BlameJSON(line []byte, err error) int {
	if e, ok := errors.AsType[*FieldError](err); ok {
		for _, key := range columnsOf[e.Field] {
			if i := bytes.Index(line, []byte(`"`+key+`"`)); i >= 0 {
				return i + 1
			}
		}
	}
	return 0
}

package trace

import (
	"github.com/oxgang/oxgang/simulate/trace/parse"
)
import _ "embed"

// DefaultOptions returns the options of a reader that fails at the first bad
// row and reads everything.
func DefaultOptions() parse.Options {
	return parse.Options{File: "input", MaxLine: parse.DefaultMaxLine}
}

// schema is the JSON schema of one line of our own format. docs/ holds the same text.
//
//go:embed arrival.schema.json
var schema string

package trace

import _ "embed"

// DefaultOptions returns the options of a reader that fails at the first bad
// row and reads everything.
func DefaultOptions() Options { return Options{File: "input", MaxLine: defaultMaxLine} }

// schema is the JSON schema of one line of our own format. docs/ holds the same text.
//
//go:embed arrival.schema.json
var schema string

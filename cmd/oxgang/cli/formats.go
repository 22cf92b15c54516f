package cli

import (
	"github.com/oxgang/oxgang/simulate/trace"
	"github.com/oxgang/oxgang/simulate/trace/parse"
	"github.com/oxgang/oxgang/simulate/workload/generate"
)

// TraceFormats returns the names of the trace formats. If written is true, it returns only formats that can be written.
func TraceFormats(written bool) []string {
	var names []string
	for _, f := range trace.Formats() {
		if !written || f.Write != nil {
			names = append(names, f.Name)
		}
	}
	return names
}

// BadRows returns the values of the setting on-bad-row.
func BadRows() []string {
	return []string{parse.Few.String(), parse.Fail.String(), parse.Skip.String()}
}

// GeneratorNames returns the kinds of generated traces.
func GeneratorNames() []string {
	var names []string
	for _, k := range generate.Kinds() {
		names = append(names, k.Name)
	}
	return names
}

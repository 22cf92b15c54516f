package report

import (
	"bytes"
	"strings"
	"testing"
)

// A name that a spreadsheet would take for a formula is a text in CSV files.
func TestCSV_has_no_formulas(t *testing.T) {
	for _, name := range []string{"=1+1", "+1", "-1", "@SUM(A1)"} {
		var out bytes.Buffer
		writeCSV(&out, []Run{{Name: name, Error: name}}, nil)
		if got := out.String(); !strings.Contains(got, "\n'"+name+",'"+name) {
			t.Errorf("name and error %s: %q", name, got)
		}
	}
}

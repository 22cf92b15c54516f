package doctable

import (
	"strings"
	"testing"
)

const page = `# Policies

Some words.

| Name | Paper | Where |
| --- | --- | --- |
| ` + "`fifo`" + ` | none | queue |
| ` + "`sia`" + ` | Sia | sia |

| Option | Default |
| --- | --- |
| ` + "`other`" + ` | 1 |

## Worlds

| Name | What |
| --- | --- |
| ` + "`sim`" + ` | simulated |
`

func TestCompare(t *testing.T) {
	tests := []struct {
		name, page, heading string
		names               []string
		want                []string // parts of the error; none: no error
	}{
		{name: "page and code agree", page: page, names: []string{"sia", "fifo"}},
		{name: "table below a heading", page: page, heading: "worlds", names: []string{"sim"}},
		{name: "missing row is printed", page: page, names: []string{"fifo", "pollux", "sia"}, want: []string{"missing row: | `pollux` | … | … |"}},
		{name: "row without code", page: page, names: []string{"fifo"}, want: []string{"row `sia`: no such name in the code"}},
		{name: "both at once", page: page, names: []string{"sia", "srtf"}, want: []string{"missing row: | `srtf`", "row `fifo`: no such"}},
		{name: "two rows of one name", page: strings.Replace(page, "`fifo`", "`sia`", 1), names: []string{"sia"}, want: []string{"row `sia`: second row"}},
		{name: "no table", page: "# Policies\n", names: []string{"fifo"}, want: []string{`no table below heading ""`}},
		{name: "no heading", page: page, heading: "Moons", names: []string{"fifo"}, want: []string{`no table below heading "Moons"`}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			err := compare([]byte(tc.page), tc.heading, tc.names)
			if len(tc.want) == 0 && err != nil {
				t.Fatalf("got error %v, want none", err)
			}
			for _, w := range tc.want {
				if err == nil || !strings.Contains(err.Error(), w) {
					t.Errorf("got error %v, want it to contain %q", err, w)
				}
			}
		})
	}
}

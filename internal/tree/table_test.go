package tree

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

func TestCompareFolders(t *testing.T) {
	const text = "| World | Package |\n| --- | --- |\n| `a` | [sim](../sim): fast |\n| `b` | [live/local](../live/local), see [c](../c) |\n"
	none := strings.Replace(text, "[sim](../sim)", "sim", 1)
	tests := []struct {
		page    string
		folders []string
		want    []string // parts of the error; none: no error
	}{
		{text, []string{"live/local", "sim"}, nil},
		{text, []string{"live/local", "sim", "journal"}, []string{"missing row: | … | [journal](../journal) | … |"}},
		{text, []string{"sim"}, []string{"row `live/local`: no such name in the code"}},
		{text + "| `d` | [sim](../sim) |\n", []string{"live/local", "sim"}, []string{"row `sim`: second row of that name"}},
		{none, []string{"live/local", "sim"}, []string{"[sim](../sim)", "row ``: no such name"}},
		{"# Worlds\n", nil, []string{"no table"}},
	}
	for _, tc := range tests {
		err := compareFolders([]byte(tc.page), "", tc.folders)
		if len(tc.want) == 0 && err != nil {
			t.Errorf("%q: got error %v, want none", tc.folders, err)
		}
		for _, w := range tc.want {
			if err == nil || !strings.Contains(err.Error(), w) {
				t.Errorf("%q: got error %v, want it to contain %q", tc.folders, err, w)
			}
		}
	}
}

package trace

import (
	"errors"
	"strings"
	"testing"

	"github.com/oxgang/oxgang/simulate/trace/parse"
	"github.com/oxgang/oxgang/simulate/workload"
)

// What a check says of an arrival is placed in the column of the field, and the
// row is treated as any bad row.
func TestCheck(t *testing.T) {
	tests := []struct {
		name, in string
		field    parse.Field
		want     string
	}{
		{"application_of_sia", siaHead + "a,0,bert,1,1\nb,1,bert,1,1\n", parse.Application, "in:3:3: no"},
		{"gpus_of_gavel", "job_type,total_steps,scale_factor,arrival_s\nx,1,1,0\ny,1,2,0\n", parse.GPUs, "in:3:3: no"},
		{"application_of_synergy", synergyText, parse.Application, "in:3:2: no"},
		{"field_without_a_column", siaHead + "a,0,bert,1,1\nb,1,bert,1,1\n", parse.GPUTypes, "in:3: no"},
		{"key_of_jsonl", `{"id":"a","gpus":1}` + "\n" + `{"id":"b","gpus":1}` + "\n", parse.GPUs, "in:2:11: no"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			read := func(onBad parse.BadRow) (*parse.Summary, error) {
				seen, sum := 0, &parse.Summary{}
				seq, err := Open(strings.NewReader(test.in), "", parse.Options{File: "in", OnBadRow: onBad, Summary: sum, Check: func(*workload.Arrival) error {
					if seen++; seen == 1 {
						return nil
					}
					return &parse.FieldError{Field: test.field, Err: errors.New("no")}
				}})
				if err != nil {
					t.Fatal(err)
				}
				_, err = parse.Sorted(seq)
				return sum, err
			}
			if _, err := read(parse.Fail); err == nil || err.Error() != test.want {
				t.Errorf("got %v, want %s", err, test.want)
			}
			if sum, err := read(parse.Skip); err != nil || sum.Jobs != 1 || sum.Bad != 1 || sum.BadRows[0].Error() != test.want {
				t.Errorf("skipping: got %v and %+v, want one job and one bad row", err, sum)
			}
		})
	}
}

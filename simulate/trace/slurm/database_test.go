package slurm

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/simulate/trace/parse"
)

const databaseHeader = `,id_job,id_array_job,id_user,kill_requid,nodes_alloc,partition,priority,state,timelimit,time_submit,time_eligible,time_start,time_end,tres_alloc,tres_req`

// Kind of fault: numbered resources, states and times of a database are read as others. A table of known jobs, as MIT
// Supercloud publishes it, has their number, GPU-hours, waits and users.
func TestDatabase_of_known_jobs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string, least, most int) int { return rapid.IntRange(least, most).Draw(t, name) }
		var rows []string
		var want []truth
		for i := range draw("jobs", 1, 30) {
			user := rapid.SampledFrom([]string{"93371910", "7"}).Draw(t, "user")
			id, gpus, submit := 4074251073298+i, draw("gpus", 1, 8), int64(epoch+draw("submit", 0, 90*aDay))
			start := submit + int64(draw("wait", 0, aDay))
			end := start + int64(draw("run", 1, aDay))
			tres := rapid.SampledFrom([]string{"1=40,2=170000,4=1,5=40,1002=%d", "1=20,2=85000,4=1,1001=%d,1002=", "1=8,4=2,1002=0,1001=%d"}).Draw(t, "tres")
			row := func(submit, start, end int64, state int, tres string) {
				rows = append(rows, fmt.Sprintf(`%d,%d,0,%s,-1,1,gpu,5,%d,4294967295,%d,%d,%d,%d,"%s","%s"`, i, id, user, state, submit, submit, start, end, tres, tres))
			}
			switch draw("oddity", 0, 3) {
			case 0: // never started
				row(submit, 0, end, 4, fmt.Sprintf(tres, gpus))
				continue
			case 1: // without GPUs
				row(submit, start, end, 3, "1=40,2=170000,4=1,5=40,1002=0")
				continue
			case 2: // requeued
				row(submit, start, end, 7, fmt.Sprintf(tres, gpus))
				again := end
				start, end = again+30, again+3630
				row(again, start, end, 3, fmt.Sprintf(tres, gpus))
			default:
				row(submit, start, end, draw("state", 3, 6), fmt.Sprintf(tres, gpus))
			}
			want = append(want, truth{" " + user, gpus, submit, start, end})
		}
		if len(want) == 0 {
			return
		}
		text := databaseHeader + "\n" + strings.Join(rapid.Permutation(rows).Draw(t, "rows"), "\n") + "\n"
		got, err := History(strings.NewReader(text), parse.Options{})
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		var seen []truth
		for i := range got {
			o := truthOf(&got[i])
			o.user = " " + got[i].Arrival.Spec.User
			seen = append(seen, o)
		}
		compareTruths(t, want, seen, text)
	})
}

func TestDatabase_refused(t *testing.T) {
	for tres, want := range map[string]string{
		"1=40,1003=2":       "1003 may be GPUs or not",
		"1=4,1001=2,1002=2": "not both",
	} {
		text := databaseHeader + "\n" + fmt.Sprintf(`0,1,0,7,-1,1,gpu,5,3,60,%d,%d,%d,%d,"%s",`, epoch, epoch, epoch+5, epoch+65, tres)
		if _, err := History(strings.NewReader(text), parse.Options{}); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "sacct -P") {
			t.Errorf("%s: error %v, want %q and what to do", tres, err, want)
		}
	}
}

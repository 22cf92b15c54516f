package trace

import (
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/oxgang/oxgang/simulate/trace/parse"
)

const siaHead = "name,time,application,num_replicas,batch_size\n"

func TestBadRows(t *testing.T) {
	tests := []struct{ name, format, text, want string }{
		{"text for a number", "sia", siaHead + "a,1,bert,x3,48\n", `w.csv:2:4: num_replicas "x3", want a whole number of at least 1`},
		{"no GPUs", "sia", siaHead + "a,1,bert,0,48\n", `w.csv:2:4: num_replicas "0", want a whole number of at least 1`},
		{"negative", "sia", siaHead + "a,1,bert,-4,48\n", `w.csv:2:4: num_replicas "-4", want a whole number of at least 1`},
		{"overflow", "sia", siaHead + "a,1,bert,99999999999999999999,48\n", `w.csv:2:4: num_replicas "99999999999999999999", want a whole number of at most 1000000`},
		{"fraction of a GPU", "sia", siaHead + "a,1,bert,1.5,48\n", `w.csv:2:4: num_replicas "1.5", want a whole number of at least 1`},
		{"not a number", "sia", siaHead + "a,NaN,bert,1,48\n", `w.csv:2:2: time "NaN", want seconds of at least 0 and at most 9e9`},
		{"infinite", "sia", siaHead + "a,+Inf,bert,1,48\n", `w.csv:2:2: time "+Inf", want seconds of at least 0 and at most 9e9`},
		{"before time 0", "sia", siaHead + "a,-1,bert,1,48\n", `w.csv:2:2: time "-1", want seconds of at least 0 and at most 9e9`},
		{"after the end of time", "sia", siaHead + "a,1e300,bert,1,48\n", `w.csv:2:2: time "1e300", want seconds of at least 0 and at most 9e9`},
		{"no name", "sia", siaHead + ",1,bert,1,48\n", `w.csv:2:1: name "", want a name`},
		{"no application", "sia", siaHead + "a,1,,1,48\n", `w.csv:2:3: application "", want a name`},
		{"unknown category", "sia", "category," + siaHead + "elastic,a,1,bert,1,48\n", `w.csv:2:1: category "elastic", want adaptive, scale-gpus or rigid`},
		{"repeated name", "sia", siaHead + "a,1,bert,1,48\nb,1,bert,1,48\na,2,bert,1,48\n", `w.csv:4:1: name "a", want a name not used before: line 2 has it`},
		{"truncated row", "sia", siaHead + "a,1,bert,1,48\nb,1,be", `w.csv:3: 3 fields, want 5`},
		{"open quote", "sia", siaHead + "a,1,\"bert,1,48\n", `w.csv:2:3: open quote, want it closed on the same line`},
		{"not text", "sia", siaHead + "a\xff,1,bert,1,48\n", `w.csv:2: text that is not UTF-8`},
		{"header only", "sia", siaHead, `w.csv:2: the file ends, want at least one job`},
		{"empty", "sia", "", `w.csv: empty file, want a header and at least one job`},
		{"column missing", "sia", "name,time\n", `w.csv:1: no column application in header "name,time"`},
		{"column twice", "sia", "name,time,name\n", `w.csv:1:3: second column "name", want each once`},
		{"elastic without limits", "philly", "submit_s,run_s,gpus,elastic\n1,1,1,1\n", `w.csv:2:4: elastic "1", want 0 in a file without column w_min`},
		{"elastic range", "philly", strings.Replace(lyraText, ",2,4,8,1,", ",2,4,3,1,", 1), `w.csv:3:7: w_max "3", want a whole number of at least 4`},
		{"outside the elastic range", "philly", strings.Replace(lyraText, ",8,2,4,8,1,", ",4,2,4,8,1,", 1), `w.csv:3:4: gpus "4", want 8 to 16 (w_min to w_max workers)`},
		{"part of a worker", "philly", strings.Replace(lyraText, ",16,8,2,2,", ",16,5,2,2,", 1), `w.csv:2:4: gpus "16", want whole workers: a multiple of gpus_per_worker, 5`},
		{"kind of job", "philly", strings.Replace(lyraText, ",1,1,1,1,0\n", ",1,2,1,1,0\n", 1), `w.csv:3:9: fungible "2", want a whole number of at most 1`},
		{"calendar", "helios", "job_id,gpu_num,submit_time,duration\n1,1,yesterday,4\n", `w.csv:2:3: submit_time "yesterday", want a time like 2020-08-31 23:59:00`},
		{"year", "helios", "job_id,gpu_num,submit_time,duration\n1,1,0001-01-01 00:00:00,4\n", `w.csv:2:3: submit_time "0001-01-01 00:00:00", want a time like 2020-08-31 23:59:00`},
		{"share above one GPU", "alibaba", strings.Replace(alibabaText, ",8,1000,", ",8,2000,", 1), `w.csv:2:5: gpu_milli "2000", want a whole number of at most 1000`},
		{"columns", "gavel", "a\tb\tc\n", `w.csv:1: 3 tab-separated columns, want 7 or 10`},
		{"weight", "gavel", strings.Replace(gavel10Text, "\t5\t", "\t-5\t", 1), `w.csv:1:8: priority_weight "-5", want a finite number of at least 0`},
		{"steps overflow", "gavel", strings.Replace(gavel10Text, "347387", "1e308", 1), `w.csv:1:6: total_steps "1e308", want fewer steps or a smaller batch size`},
		{"batch overflow", "gavel", strings.Replace(gavel10Text, "size 32", "size 2147483647", 1), `w.csv:1:7: scale_factor "2", want fewer GPUs or a smaller batch size`},
		{"mode", "shockwave", strings.Replace(shockwaveCSVText, "gns", "fast", 1), `w.csv:2:5: mode "fast", want static, accordion or gns`},
		{"no model", "synergy", strings.Replace(synergyText, "gnmt", " ", 1), `w.csv:3:2: model " ", want a name`},
		{"no iterations", "synergy", strings.Replace(synergyText, "26435", "0", 1), `w.csv:3:4: total_iters "0", want a whole number of at least 1`},
		{"endless iterations", "synergy", strings.Replace(synergyText, "26435", "9999999999", 1), `w.csv:3:4: total_iters "9999999999", want a whole number of at most 2147483647`},
		{"part of a GPU", "synergy", strings.Replace(synergyText, "26435,4", "26435,0.5", 1), `w.csv:3:5: gpus "0.5", want a whole number of at least 1`},
		{"iterations missing", "synergy", "job_id,model,arrival_s,gpus\n", `w.csv:1: no column total_iters in header`},
		{"memory", "slurm", strings.Replace(slurmText, "mem=64G", "mem=64X", 1), `w.csv:2:10: reqtres "billing=8,cpu=16,gres/gpu:a100=4,gres/gpu=4,mem=64X,node=1", want memory like mem=64G`},
		{"gpus", "slurm", strings.Replace(slurmElapsedText, "gpu=1", "gpu=-1", 1), `w.csv:2:4: alloctres "gres/gpu=-1", want whole numbers from 0 to 1000000`},
		{"elapsed", "slurm", strings.Replace(slurmElapsedText, "1-02:03:04", "12", 1), `w.csv:2:3: elapsed "12", want a time like 1-02:03:04`},
		{"no array", "philly", "[3]", `w.csv:1: '3', want {`},
		{"truncated array", "philly", phillyJSONText[:len(phillyJSONText)-3], `w.csv:9: truncated: the file ends, want ]`},
		{"truncated element", "philly", "[{\n\"jobid\": ", `w.csv:2: truncated: the file ends, want ]`},
		{"after the array", "philly", "[]\nx", `w.csv:2: 'x', want the end of the file`},
		{"empty array", "philly", "[]", `w.csv:1: the file ends, want at least one job`},
		{"no comma", "philly", strings.Replace(phillyJSONText, "},\n {", "}\n {", 1), `w.csv:4: '{', want , or ]`},
		{"wrong type", "philly", "[\n{\"jobid\": 3}]", `w.csv:2: jobid is a JSON number, want string`},
		{"bad time", "philly", "[\n{\"jobid\": \"a\", \"submitted_time\": \"x\"}]", `w.csv:2: submitted_time "x", want a time like 2017-10-09 07:08:52`},
		{"endless attempts", "philly", `[{"jobid":"a","submitted_time":"2017-10-09 07:08:52","attempts":[` + strings.Repeat(`{"start_time":"0001-01-01 00:00:00","end_time":"9999-01-01 00:00:00"},`, 4) + `{}]}]`, `w.csv:1: attempts that last longer than 285 years, want less`},
		{"attempts no array", "philly", `[{"jobid":"a","submitted_time":"x","attempts":{}}]`, `w.csv:1: attempts is a JSON object, want`},
		{"unknown key", "jsonl", `{"id":"a","gpus":1,"gpu":2}`, `w.csv:1: unknown field "gpu"`},
		{"key twice", "jsonl", `{"id":"a","gpus":1,"gpus":2}`, `w.csv:1: key "gpus" occurs twice`},
		{"key in other letters", "jsonl", `{"id":"a","GPUs":1}`, `w.csv:1: unknown key "GPUs", want "gpus"`},
		{"half a surrogate pair", "jsonl", `{"id":"a\ud800","gpus":1}`, `w.csv:1: half a surrogate pair in "a\ud800"`},
		{"several complaints", "jsonl", `{"at_s":-1,"gpus":0,"id":"a"}`, `w.csv:1: at_s "-1", want seconds of at least 0 and at most 9e9`},
		{"no id", "jsonl", `{"gpus":0}`, `w.csv:1: id "", want a name in UTF-8; gpus 0, want 1 to 1000000`},
		{"elastic range", "jsonl", `{"id":"a","gpus":8,"min_gpus":8,"max_gpus":4,"scaling_loss":1.5,"mixed_speed":2}`, `w.csv:1: min_gpus 8, want at most max_gpus, 4; scaling_loss 1.5, want 0 to 1; mixed_speed 2, want 0 to 1`},
		{"part of a worker", "jsonl", `{"id":"a","gpus":9,"worker_gpus":8,"equivalents":{"t4":0}}`, `w.csv:1: gpus 9, want whole workers, a multiple of worker_gpus, 8; equivalents of t4: 0, want 1 to 1000000`},
		{"truncated line", "jsonl", "{\"id\":\"a\",\"gpus\":1}\n{\"id\":", `w.csv:2: truncated JSON, want a whole object`},
		{"syntax", "jsonl", `{"id":x}`, `w.csv:1:7: invalid character 'x' looking for beginning of value`},
		{"wrong type of line", "jsonl", `{"id":"a","gpus":"2"}`, `w.csv:1:20: gpus is a JSON string, want int`},
		{"two objects", "jsonl", `{"id":"a","gpus":1}{}`, `w.csv:1:20: "{}" after the object, want the end of the line`},
		{"goal", "jsonl", `{"id":"a","gpus":1,"goal":"win"}`, `w.csv:1: goal "win", want one of training, batch_inference, latency_bound`},
		{"repeated id", "jsonl", "{\"id\":\"a\",\"gpus\":1}\n{\"id\":\"a\",\"gpus\":1}", `w.csv:2: id "a", want a name not used before: line 1 has it`},
		{"empty", "jsonl", "", `w.csv:1: the file ends, want at least one job`},
		{"gzip cut", "sia", packed(strings.Repeat(siaText, 50))[:60], `w.csv:`},
	}
	for _, tc := range tests {
		t.Run(tc.format+"/"+tc.name, func(t *testing.T) {
			seq, err := Open(strings.NewReader(tc.text), tc.format, parse.Options{File: "w.csv"})
			if err == nil {
				_, err = parse.Collect(seq)
			}
			if err == nil || !strings.HasPrefix(err.Error(), tc.want) {
				t.Fatalf("got error  %v\nwant error %s", err, tc.want)
			}
			if _, ok := errors.AsType[*parse.Error](err); !ok {
				t.Errorf("error is a %T, want *Error", err)
			}
		})
	}
}

func TestSkip(t *testing.T) {
	text := siaHead + "a,1,bert,1,48\nb,1,bert,x,48\n" + strings.Repeat("y", 300) + "\nc,1,bert,2,48\na,1,bert,2,48\n"
	got, summary := read(t, text, parse.Options{OnBadRow: parse.Skip, MaxLine: 200})
	if len(got) != 2 || got[0].Spec.ID != "a" || got[1].Spec.ID != "c" {
		t.Errorf("arrivals %v, want a and c", got)
	}
	if summary.Rows != 5 || summary.Jobs != 2 || summary.Bad != 3 {
		t.Errorf("summary %+v, want 5 rows, 2 jobs, 3 bad", summary)
	}
	want := `format sia: 5 rows, 2 jobs
  bad rows skipped: 3
    input:3:4: num_replicas "x", want a whole number of at least 1
    input:4: line too long, want at most 200 bytes
    input:6:1: name "a", want a name not used before: line 2 has it
`
	if summary.String() != want {
		t.Errorf("summary\n%s\nwant\n%s", summary, want)
	}
}

func TestSkipKeepsFewSamples(t *testing.T) {
	_, summary := read(t, siaText+strings.Repeat("x\n", 1000), parse.Options{OnBadRow: parse.Skip})
	if summary.Bad != 1000 || len(summary.BadRows) != parse.MaxBadRows {
		t.Errorf("%d bad rows and %d samples, want 1000 and %d", summary.Bad, len(summary.BadRows), parse.MaxBadRows)
	}
	if want := "and 990 more\n"; !strings.HasSuffix(summary.String(), want) {
		t.Errorf("summary %q, want it to end in %q", summary, want)
	}
}

func TestSkipAll(t *testing.T) {
	for _, text := range []string{siaHead + "x\ny\n", "[{},{}]", "{}\n{}\n"} {
		seq, err := Open(strings.NewReader(text), "", parse.Options{OnBadRow: parse.Skip})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = parse.Collect(seq); err == nil || !strings.Contains(err.Error(), "all 2 rows are bad; the first: input:") {
			t.Errorf("%q: got error %v, want one that says all rows are bad", text, err)
		}
	}
}

// A long line ends in an error, not in memory.
func TestLongLine(t *testing.T) {
	const size = 64 << 20
	heads := map[string]string{"sia": siaHead, "jsonl": `{"id":"`, "philly": `[{"id":"`}
	for name, head := range heads {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			seq, err := Open(io.MultiReader(strings.NewReader(head), io.LimitReader(letters{}, size), strings.NewReader(`"}]`)), name, parse.Options{})
			if err != nil {
				t.Fatal(err)
			}
			_, err = parse.Collect(seq)
			if !errors.Is(err, parse.ErrTooLong) {
				t.Errorf("got error %v, want a line too long", err)
			}
			runtime.ReadMemStats(&after)
			if used := after.TotalAlloc - before.TotalAlloc; used > 16<<20 {
				t.Errorf("allocated %d bytes for a line of %d, want at most 16 MiB", used, size)
			}
		})
	}
}

// letters is an endless line.
type letters struct{}

func (letters) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// An error of the underlying reader comes through, wrapped.
func TestReadError(t *testing.T) {
	broken := errors.New("disk on fire")
	for _, s := range samples {
		r := io.MultiReader(strings.NewReader(s.text[:len(s.text)-4]), failing{broken})
		seq, err := Open(r, strings.Replace(s.format, swfFormat, swfGPUs, 1), parse.Options{OnBadRow: parse.Skip})
		if err == nil {
			_, err = parse.Collect(seq)
		}
		if !errors.Is(err, broken) {
			t.Errorf("%s/%s: got error %v, want %v", s.format, s.name, err, broken)
		}
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// A line longer than the reader's buffer is skipped as a whole.
func TestSkipLongLine(t *testing.T) {
	for _, size := range []int{100_000, 65_535, 65_536, 65_537, 131_072, 1_000_000} {
		long := strings.Repeat("x", size)
		got, summary := read(t, siaText+long+"\n"+"z,1,bert,2,48\n", parse.Options{OnBadRow: parse.Skip, MaxLine: 50_000})
		if len(got) != 2 || summary.Bad != 2 { // z has its columns in another order than siaText
			t.Errorf("line of %d bytes: %d arrivals, %d bad rows, want 2 and 2", size, len(got), summary.Bad)
		}
		got, summary = read(t, siaText+long, parse.Options{OnBadRow: parse.Skip, MaxLine: 50_000})
		if len(got) != 2 || summary.Bad != 1 {
			t.Errorf("last line of %d bytes: %d arrivals, %d bad rows, want 2 and 1", size, len(got), summary.Bad)
		}
	}
}

// Rows that fit MaxLine but not the reader's buffer are read whole.
func TestWideRow(t *testing.T) {
	name := strings.Repeat("n", 200_000)
	got, _ := read(t, siaHead+name+",1,bert,2,48\r\nb,2,bert,2,48\n", parse.Options{})
	if len(got) != 2 || string(got[0].Spec.ID) != name || got[1].Spec.ID != "b" {
		t.Errorf("%d arrivals, want the wide one and b", len(got))
	}
}

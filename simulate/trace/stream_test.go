package trace

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/oxgang/oxgang/simulate/trace/parse"
)

// repeated is a header and then rows made one after another, n in all.
type repeated struct {
	n, next int
	row     func(i int) string
	left    []byte
}

func (r *repeated) Read(p []byte) (int, error) {
	for len(r.left) == 0 {
		if r.next == r.n {
			return 0, io.EOF
		}
		r.left = []byte(r.row(r.next))
		r.next++
	}
	n := copy(p, r.left)
	r.left = r.left[n:]
	return n, nil
}

// Reading keeps nothing of the rows it has passed on, where jobs have no names.
func TestReadStreams(t *testing.T) {
	const rows = 300_000
	in := io.MultiReader(strings.NewReader("submit_s,run_s,gpus,vc\n"), &repeated{n: rows, row: func(i int) string {
		return fmt.Sprintf("%d,%d,1,team-%d\n", i, i+1, i)
	}})
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before, count := heap(), 0
	for a, err := range phillyTable.Read(in, parse.Options{}) {
		if err != nil || a.Spec.GPUs != 1 {
			t.Fatalf("arrival %+v, %v", a, err)
		}
		if count++; count == rows {
			if after := heap(); after > before+4<<20 {
				t.Errorf("%d bytes held after %d rows, want at most 4 MiB", after-before, rows)
			}
		}
	}
	if count != rows {
		t.Errorf("%d arrivals, want %d", count, rows)
	}
}

func BenchmarkRead(b *testing.B) {
	bench := []struct {
		format, head string
		row          func(i int) string
	}{
		{"sia", siaHead, func(i int) string { return fmt.Sprintf("cifar10-%d,%d.661836,cifar10,12,4096\n", i, i) }},
		{"philly", "submit_s,run_s,gpus,vc\n", func(i int) string { return fmt.Sprintf("%d,%d,8,%d\n", i, i+1, i%14) }},
		{"jsonl", "", func(i int) string {
			return fmt.Sprintf(`{"id":"cifar10-%d","at_s":%d.5,"application":"cifar10","gpus":12,"batch_size":4096,"adaptivity":["gpu_count","gpu_type","batch_size"]}`+"\n", i, i)
		}},
	}
	const rows = 10_000
	for _, bm := range bench {
		text, err := io.ReadAll(io.MultiReader(strings.NewReader(bm.head), &repeated{n: rows, row: bm.row}))
		if err != nil {
			b.Fatal(err)
		}
		b.Run("format="+bm.format, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				seq, err := Open(bytes.NewReader(text), bm.format, parse.Options{})
				if err != nil {
					b.Fatal(err)
				}
				for _, err := range seq {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(rows*b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

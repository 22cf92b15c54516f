//go:build unix

package agentapi

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/job"
)

// idle takes in reports and does nothing with them.
type idle struct{ *fakeJobs }

func (idle) Report(context.Context, job.ID, *Report) (*Answer, error) {
	return &Answer{Batch: Batch{Local: 32}}, nil
}

// BenchmarkReports is reports per second on one core, over a unix socket and one connection
// that is kept, and CPU seconds per report. Both are of the server and a plain client that
// shares the core with it, so the server alone is better than they say.
func BenchmarkReports(b *testing.B) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	_, path := serve(b, idle{newFakeJobs("j1")}, Options{Rate: 1e6, Burst: 1e6})
	c, err := net.Dial("unix", path)
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	answers := bufio.NewReader(c)
	before, after, _ := strings.Cut(golden(b, "report"), `"sequence":17`)
	var request []byte
	begun, n := used(b), 0
	for b.Loop() {
		n++
		body := fmt.Sprintf(`%s"sequence":%d%s`, before, n, after)
		request = fmt.Appendf(request[:0], "%sContent-Length: %d\r\n\r\n%s", heading, len(body), body)
		if _, err := c.Write(request); err != nil {
			b.Fatal(err)
		}
		answer, err := http.ReadResponse(answers, nil)
		if err != nil || answer.StatusCode != http.StatusOK {
			b.Fatalf("report %d: %+v, %v", n, answer, err)
		}
		if _, err := io.Copy(io.Discard, answer.Body); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "reports/s")
	b.ReportMetric(float64((used(b)-begun).Microseconds())/float64(n), "CPU-µs/report")
}

// used returns the CPU time of this process so far.
func used(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Command fitcatalog fits the embedded catalog of package workload to the
// shared profiles. Run in the repository root, it reads
// ../shared/data/sia/profiles and writes workload/fitted_data.go and the
// figures of docs/experiments/embedded-catalog.md:
//
//	go run ./internal/fitcatalog
package main

import (
	"bytes"
	"flag"
	"fmt"
	"go/format"
	"os"

	"github.com/oxgang/oxgang/workload"
)

// applications are what the embedded catalog holds.
var applications = []string{"bert", "cifar10", "deepspeech2", "gpt_pmp", "imagenet", "yolov3"}

func main() {
	data := flag.String("data", "../shared/data/sia", "folder of the shared profiles")
	code := flag.String("code", "workload/fitted_data.go", "file of parameters to write")
	page := flag.String("page", "docs/experiments/embedded-catalog.md", "page of fit errors to write")
	flag.Parse()
	if err := run(*data, *code, *page); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// run reads the profiles, fits every application, and writes both files.
func run(data, code, page string) error {
	off, err := os.ReadFile(data + "/derived/offtable_wholenode.csv")
	if err != nil {
		return err
	}
	catalog, err := workload.ReadProfiles(os.DirFS(data+"/profiles"), bytes.NewReader(off))
	if err != nil {
		return err
	}
	var models []model
	for _, name := range applications {
		app := catalog[name]
		if app == nil {
			return fmt.Errorf("no application %s in %s", name, data)
		}
		models = append(models, fit(app))
	}
	text := new(bytes.Buffer)
	writeCode(text, models)
	source, err := format.Source(text.Bytes())
	if err != nil {
		return err
	}
	if err := os.WriteFile(code, source, 0o644); err != nil {
		return err
	}
	text.Reset()
	writePage(text, models)
	if _, err := os.Stdout.Write(text.Bytes()); err != nil {
		return err
	}
	return os.WriteFile(page, text.Bytes(), 0o644)
}

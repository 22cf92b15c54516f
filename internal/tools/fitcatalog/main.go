// Command fitcatalog fits the embedded catalog of package profiles. Run it in the repository root:
//
//	go run -C internal/tools/fitcatalog .
//
// It reads ../shared/data/sia/profiles, ../shared/data/synergy/profiles.json and
// ../shared/data/gavel/throughputs_isolated.csv. It writes fitted_data.go, synergy_data.go and gavel_data.go in
// simulate/workload/profiles, and docs/experiments/embedded-catalog.md.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"go/format"
	"os"

	"github.com/oxgang/oxgang/simulate/workload/profiles"
)

var applications = []string{"bert", "cifar10", "deepspeech2", "gpt_pmp", "imagenet", "yolov3"}

func main() {
	var p paths
	root := flag.String("root", "../../..", "folder of the repository; all other paths are relative to it")
	flag.StringVar(&p.data, "data", "../shared/data/sia", "folder of the shared profiles")
	flag.StringVar(&p.sensitivity, "sensitivity", "../shared/data/synergy/profiles.json", "file of the shared sensitivity profiles")
	flag.StringVar(&p.steps, "steps", "../shared/data/gavel/throughputs_isolated.csv", "file of the shared measured steps")
	flag.StringVar(&p.code, "code", "simulate/workload/profiles/fitted_data.go", "file of parameters to write")
	flag.StringVar(&p.sensitivityCode, "sensitivity-code", "simulate/workload/profiles/synergy_data.go", "file of input pipelines to write")
	flag.StringVar(&p.stepsCode, "steps-code", "simulate/workload/profiles/gavel_data.go", "file of Gavel's models to write")
	flag.StringVar(&p.page, "page", "docs/experiments/embedded-catalog.md", "page of fit errors to write")
	flag.Parse()
	err := os.Chdir(*root)
	if err == nil {
		err = run(&p)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

type paths struct{ data, sensitivity, steps, code, sensitivityCode, stepsCode, page string }

func run(p *paths) error {
	models, err := fitAll(p.data)
	if err != nil {
		return err
	}
	fed, err := readFed(p.sensitivity)
	if err != nil {
		return err
	}
	steps, err := readSteps(p.steps)
	if err != nil {
		return err
	}
	text := new(bytes.Buffer)
	writeCode(text, models)
	if err := writeSource(p.code, text); err != nil {
		return err
	}
	text.Reset()
	writeFed(text, fed)
	if err := writeSource(p.sensitivityCode, text); err != nil {
		return err
	}
	text.Reset()
	writeSteps(text, steps)
	if err := writeSource(p.stepsCode, text); err != nil {
		return err
	}
	text.Reset()
	writePage(text, models)
	writeFedPage(text, fed)
	writeStepsPage(text, steps)
	if _, err := os.Stdout.Write(text.Bytes()); err != nil {
		return err
	}
	return os.WriteFile(p.page, text.Bytes(), 0o644)
}

func fitAll(data string) ([]model, error) {
	off, err := os.ReadFile(data + "/derived/offtable_wholenode.csv")
	if err != nil {
		return nil, err
	}
	catalog, err := profiles.ReadProfiles(os.DirFS(data+"/profiles"), bytes.NewReader(off))
	if err != nil {
		return nil, err
	}
	var models []model
	for _, name := range applications {
		app := catalog[name]
		if app == nil {
			return nil, fmt.Errorf("no application %s in %s", name, data)
		}
		models = append(models, fit(app))
	}
	return models, nil
}

func writeSource(name string, text *bytes.Buffer) error {
	source, err := format.Source(text.Bytes())
	if err != nil {
		return err
	}
	return os.WriteFile(name, source, 0o644)
}

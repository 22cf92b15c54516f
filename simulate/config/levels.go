package config

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/oxgang/oxgang/model/cluster"
)

type levels struct{ rack, nvlink int }

func parseLevels(text string) (rest string, l levels, err error) {
	for {
		at := strings.LastIndexByte(text, '/')
		kind, number, numbered := strings.Cut(text[at+1:], "@")
		if at < 0 || kind != "rack" && kind != "nvlink" {
			return text, l, l.validate()
		}
		n, err := strconv.Atoi(number)
		if !numbered || err != nil || n < 1 || n > maxNodes {
			return "", l, fmt.Errorf("%q, want the number of neighbouring nodes that share one, 1 to %d, as %s@12", text[at+1:], maxNodes, kind)
		}
		if text = text[:at]; kind == "rack" {
			l.rack = n
		} else {
			l.nvlink = n
		}
	}
}

func (l levels) validate() error {
	if l.rack > 0 && l.nvlink > 0 && l.rack%l.nvlink != 0 {
		return fmt.Errorf("rack@%d and nvlink@%d, want whole NVLink domains in a rack, as rack@%d", l.rack, l.nvlink, (l.rack/l.nvlink+1)*l.nvlink)
	}
	return nil
}

func (l levels) apply(n *cluster.Node, part string, i int) {
	if l.rack > 0 {
		n.Rack = fmt.Sprintf("%srack%d", part, i/l.rack)
	}
	if l.nvlink > 0 {
		n.NVLinkDomain = fmt.Sprintf("%snvlink%d", part, i/l.nvlink)
	}
}

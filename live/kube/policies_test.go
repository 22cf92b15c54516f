package kube

import _ "github.com/oxgang/oxgang/policy/standard" // tests name policies

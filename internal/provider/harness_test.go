// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	_ "github.com/hashicorp/terraform-plugin-testing/echoprovider"
	_ "github.com/hashicorp/terraform-plugin-testing/helper/resource"
)

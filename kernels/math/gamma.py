"""lgamma and digamma, with reflection for negative arguments."""

from __future__ import annotations

from ttnn_jit.kernels.math.logarithm import Logarithm
from ttnn_jit.kernels.math.primitives import Table
from ttnn_jit.kernels.math.trigonometry import PI_HIGH, PI_MIDDLE, Trigonometry
from ttnn_jit.ops.language.emit import Value

# lgamma(x) / ((x - 1) (x - 2)) for x in [1, 15]: relative error 3.7e-08.
LOG_GAMMA = Table.by_degree(
    "log_gamma",
    (
        0.5241164565086365, 0.4501393139362335, 0.399589478969574, 0.3620683252811432,
        0.32025963068008423, 0.2804270386695862, 0.2512897849082947, 0.22879038751125336,
        0.20298002660274506, 0.1778031587600708, 0.159111887216568, 0.144565150141716,
        0.0, 0.0, 0.0, 0.0,
    ),
    (
        -0.1845586746931076, -0.11948158591985703, -0.08588084578514099, -0.06572934985160828,
        -0.04743516445159912, -0.033564720302820206, -0.025347623974084854, -0.01999969780445099,
        -0.014835688285529613, -0.01070696022361517, -0.008169890381395817, -0.0064821201376616955,
        0.0, 0.0, 0.0, 0.0,
    ),
    (
        0.09456653147935867, 0.04452028125524521, 0.02527075633406639, 0.01602884940803051,
        0.009242472238838673, 0.005179726984351873, 0.0032477620989084244, 0.002195824636146426,
        0.0013442025519907475, 0.0007888772524893284, 0.0005082827410660684, 0.0003494587435852736,
        0.0, 0.0, 0.0, 0.0,
    ),
    (
        -0.05623281002044678, -0.019051842391490936, -0.00846395455300808, -0.004419152159243822,
        -0.0020183632150292397, -0.0008884023991413414, -0.00045969925122335553, -0.0002649517555255443,
        -0.0001330411760136485, -6.312876212177798e-05, -3.4194934414699674e-05, -2.0296944057918154e-05,
        0.0, 0.0, 0.0, 0.0,
    ),
    (
        0.03610946238040924, 0.00877922959625721, 0.0029405872337520123, 0.0013929051347076893,
        0.0004709335044026375, 0.00016309086640831083, 7.553006435045972e-05, 3.464334804448299e-05,
        1.3596197277365718e-05, 5.262484592094552e-06, 2.3016566501610214e-06, 1.101168209061143e-06,
        0.0, 0.0, 0.0, 0.0,
    ),
    (
        -0.025638509541749954, -0.004325750283896923, -0.0011510798940435052, -0.00040830185753293335,
        -0.00011602234008023515, -3.100013418588787e-05, -1.0946567272185348e-05, -4.440504653757671e-06,
        -1.4986690075602382e-06, -4.6184896973500145e-07, -1.7155421971892792e-07, -7.700747062244773e-08,
        0.0, 0.0, 0.0, 0.0,
    ),
    (
        0.017978286370635033, 0.0021188983228057623, 0.0014979830011725426, -0.0008220664458349347,
        2.5693176212371327e-05, 2.1317098344297847e-06, -1.606667683518026e-05, -1.8965041590490728e-06,
        3.1698075986241747e-07, 5.933801361379665e-08, 7.902307430640576e-08, 8.987282740235969e-08,
        0.0, 0.0, 0.0, 0.0,
    ),
)  # fmt: skip
# digamma(x) / (x - root) for x in [1, 15]: relative error 3.8e-08.
DIGAMMA = Table.by_degree(
    "digamma",
    (
        1.0747588872909546, 0.8581832051277161, 0.7262427806854248, 0.6356111764907837,
        0.5411960482597351, 0.45711085200309753, 0.398946613073349, 0.3558516204357147,
        0.30827900767326355, 0.26372167468070984, 0.23178747296333313, 0.20759624242782593,
        0.0, 0.0, 0.0, 0.0,
    ),
    (
        -0.5791664719581604, -0.32625463604927063, -0.2142573744058609, -0.15371380746364594,
        -0.10343486070632935, -0.06858476996421814, -0.04942695423960686, -0.037624701857566833,
        -0.0267868060618639, -0.018569746986031532, -0.013748390600085258, -0.010651783086359501,
        0.0, 0.0, 0.0, 0.0,
    ),
    (
        0.4002489447593689, 0.15712375938892365, 0.07913614809513092, 0.046074818819761276,
        0.02420259453356266, 0.012443160638213158, 0.007334739435464144, 0.004729356616735458,
        0.0027431414928287268, 0.001527621177956462, 0.0009465647162869573, 0.0006310802418738604,
        0.0, 0.0, 0.0, 0.0,
    ),
    (
        -0.2998250424861908, -0.08228567987680435, -0.03176792338490486, -0.014982392080128193,
        -0.0061248475685715675, -0.002431915607303381, -0.0011687598889693618, -0.000636542506981641,
        -0.00029976910445839167, -0.0001336398854618892, -6.910190859343857e-05, -3.95547212974634e-05,
        0.0, 0.0, 0.0, 0.0,
    ),
    (
        0.23160800337791443, 0.04463232308626175, 0.013229742646217346, 0.004918827675282955,
        0.0016094560269266367, 0.0004926571855321527, 0.00019903844804503024, 9.41903781495057e-05,
        3.4484666684875265e-05, 1.2535757377918344e-05, 5.093476374895545e-06, 2.4163550733646844e-06,
        0.0, 0.0, 0.0, 0.0,
    ),
    (
        -0.18234318494796753, -0.02485799789428711, -0.005656349007040262, -0.001724393805488944,
        -0.0004351968236733228, -0.00010335363185731694, -3.352855856064707e-05, -1.3506628420145717e-05,
        -3.982836915383814e-06, -1.1438493174864561e-06, -3.9047733935149154e-07, -1.6127496849094314e-07,
        0.0, 0.0, 0.0, 0.0,
    ),
    (
        0.15917767584323883, 0.016112590208649635, 0.003075988031923771, 0.002311544958502054,
        0.00013682723511010408, 2.7309652068652213e-05, -8.902440640667919e-06, -1.2104995221307036e-05,
        1.1011610467903665e-07, -1.89326442523452e-07, 1.0807043082650125e-07, 1.0457910093464307e-07,
        0.0, 0.0, 0.0, 0.0,
    ),
    (
        -0.12583720684051514, -0.00854936521500349, -0.001346830278635025, -0.0006384476437233388,
        -3.694066981552169e-05, -4.381666713015875e-06, 8.638665462967765e-07, 1.6799956483737333e-06,
        -2.185363179307842e-08, 8.7410763072171e-09, -8.787949923316773e-09, -5.599936514499859e-09,
        0.0, 0.0, 0.0, 0.0,
    ),
)  # fmt: skip
DIGAMMA_ROOT_HIGH = 1.4616321325302124
DIGAMMA_ROOT_LOW = 1.243815006546356e-08
# The correction of Stirling's formula at 1 / t, divided by t, on [0, 1/15].
STIRLING = (0.0833333358168602, -4.3481873035489116e-07, -0.002767816185951233)
HALF_LOG_TWO_PI = 0.9189385175704956
LOG_PI = 1.1447298526763916
# (log(x) - 1 / (2 x) - digamma(x)) x**2 in 1 / x**2 for x >= 15.
DIGAMMA_TAIL = (0.0833333358168602, -0.008337713778018951, 0.004927453584969044)
FAR = 14.99  # where the pieces end


class Gamma(Logarithm, Trigonometry):
    """The logarithm of |gamma| and its derivative."""

    def lgamma(self, a: Value) -> Value:
        """Log |gamma(a)|; infinite at 0 and the negative integers."""
        x = self.abs(a)
        below_one = self.lt(x, self.const(1.0))
        log = self.log(x)
        near = self._lgamma_near(x, below_one)
        far = self.fma(self.sub(x, self.const(0.5)), self.sub(log, self.const(1.0)), self._stirling_rest(x))
        zero = self.const(0.0)
        # Subtracting -0 makes the results at the roots 1 and 2 +0, as in C99.
        positive = self.sub(near, self.select(below_one, log, self.const(-0.0)))
        positive = self.select(self.lt(x, self.const(FAR)), positive, far)
        # gamma(x) gamma(-x) = -pi / (x sin(pi x)); below 1 the logarithms of x cancel.
        from_integer = self.sub(x, self.round_even(x))
        r = self.fma(from_integer, self.const(PI_HIGH), self.mul(from_integer, self.const(PI_MIDDLE)))
        sine = self.log(self.abs(self._sine(r, self.int_const(0))))
        reflected = self.sub(self.sub(self.const(LOG_PI), sine), self.select(below_one, near, self.add(positive, log)))
        # Denormal multiples of pi have lost precision.
        reflected = self.select(self.lt(x, self.const(2.0**-60)), self.neg(log), reflected)
        result = self.select(self.lt(a, zero), reflected, positive)
        infinity = self.const(float("inf"))
        pole = self.both(self.le(a, zero), self.eq(from_integer, zero))
        return self.select(self.either(pole, self.eq(x, infinity)), infinity, result)

    def _lgamma_near(self, x: Value, below_one: Value) -> Value:
        """lgamma(x) up to 15; lgamma(x + 1) below 1."""
        one = self.const(1.0)
        y = self.select(below_one, self.add(x, one), x)
        less_one = self.sub(x, one)
        first = self.select(below_one, x, less_one)
        second = self.select(below_one, less_one, self.sub(x, self.const(2.0)))
        return self.mul(self.mul(first, second), self.piecewise(self.at_most(FAR, y), LOG_GAMMA))

    def _stirling_rest(self, x: Value) -> Value:
        t = self.div(self.const(1.0), x)
        return self.fma(t, self.polynomial(t, STIRLING), self.const(HALF_LOG_TWO_PI - 0.5))

    def digamma(self, a: Value) -> Value:
        """The derivative of lgamma; infinite at zeros, NaN at the negative integers and -infinity."""
        x = self.abs(a)
        one, zero = self.const(1.0), self.const(0.0)
        below_one = self.lt(x, one)
        inverse = self.div(one, x)
        near = self._digamma_near(self.select(below_one, self.add(x, one), x))
        square = self.mul(inverse, inverse)
        far = self.fma(inverse, self.const(-0.5), self.log(x))
        far = self.fma(self.neg(square), self.polynomial(square, DIGAMMA_TAIL), far)
        value = self.select(self.lt(x, self.const(FAR)), near, far)  # digamma(x + 1) if x is below 1
        positive = self.select(below_one, self.sub(value, inverse), value)
        next_one = self.select(below_one, value, self.add(value, inverse))
        reflected = self.fma(self._cotangent_of_pi_times(x), self.const(PI_HIGH), next_one)
        reflected = self.select(self.lt(x, self.const(2.0**-60)), inverse, reflected)
        result = self.select(self.lt(a, zero), reflected, positive)
        pole = self.copysign(self.const(float("inf")), self.neg(a))
        return self.select(self.eq(a, zero), pole, result)

    def _digamma_near(self, y: Value) -> Value:
        bounded = self.at_most(FAR, y)
        from_root = self.sub(self.sub(bounded, self.const(DIGAMMA_ROOT_HIGH)), self.const(DIGAMMA_ROOT_LOW))
        return self.mul(from_root, self.piecewise(bounded, DIGAMMA))

    def _cotangent_of_pi_times(self, x: Value) -> Value:
        """cot(pi x); NaN at integers."""
        f = self.sub(x, self.round_even(x))
        fraction = self.abs(f)
        steep = self.le(fraction, self.const(0.25))
        part = self.select(steep, fraction, self.sub(self.const(0.5), fraction))
        r = self.mul(part, self.const(PI_HIGH))
        low = self.fma(part, self.const(PI_MIDDLE), self.fma(part, self.const(PI_HIGH), self.neg(r)))
        odd = self.int_select(steep, self.int_const(1), self.int_const(0))
        cotangent = self.abs(self.tangent(r, low, odd))
        return self.copysign(cotangent, f)
